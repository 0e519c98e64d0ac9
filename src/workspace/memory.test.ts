import { memoryWorkspaces } from './memory.ts';
import { workspaceSuite } from './suite.ts';

workspaceSuite({
  name: 'memory',
  async open() {
    const workspaces = memoryWorkspaces();
    return {
      workspaces,
      hands: workspaces.hands,
      again: () => workspaces,
      place: (name) => name,
      dispose: () => {},
    };
  },
});
