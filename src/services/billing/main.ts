/** The billing service as a process of its own: `node dist/services/billing/main.js --data DIR [--port N]`. */
import { runService } from '../process.ts';
import { startBilling } from './server.ts';

await runService(startBilling);
