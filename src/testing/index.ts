/** The kit for testing what is built on Outlast: a virtual clock, the crash loop, port suites, wire-true fake servers. */

export type { Subject, SubjectRow, SubjectRun } from '../break/subject.ts';
export { processSuite } from '../sandbox/process/suite.ts';
export { sandboxSuite } from '../sandbox/suite.ts';
export { storeSuite } from '../store/suite.ts';
export { workspaceSuite } from '../workspace/suite.ts';
export * from './contract/index.ts';
export { sequence } from './facts.ts';
export { harness } from './harness.ts';
export { inlineSandbox } from './inline-sandbox.ts';
export { noFiles } from './no-files.ts';
export { crowd } from './sim/crowd.ts';
export { crashLoop } from './sim/loop.ts';
export { MUTANTS } from './sim/mutants.ts';
export { SCENARIOS } from './sim/scenarios.ts';
export { virtualClock } from './virtual-clock.ts';
export { wires } from './wires/formats.ts';
export { startWireServer } from './wires/server.ts';
