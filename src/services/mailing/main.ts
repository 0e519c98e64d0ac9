/** The mailing service as a process of its own: `node dist/services/mailing/main.js --data DIR [--port N]`. */
import { runService } from '../process.ts';
import { startMailing } from './server.ts';

await runService(startMailing);
