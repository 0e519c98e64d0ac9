/** What is exported of the contract: to put it to a store of one's own, or to another runtime. */

export { CLAUSES, contract, type Result, type Verdict } from './contract.ts';
export { memory as memorySubject, onStore, subject as outlastSubject } from './outlast.ts';
export {
  type Gate,
  NotOffered,
  type Outside,
  Refused,
  type Reply,
  type Runtime,
  type Subject,
  type Told,
} from './port.ts';
