/**
 * The port of the resume contract: what a runtime must let itself be asked, so that the nine clauses can judge it. Other
 * runtimes are put under it by a small adapter; nothing here knows how one works inside.
 *
 * Q1  A runtime reaches the outside, the model included, through `Outside` and by no other way. The judge is on the other
 *     side of it.
 * Q2  What a runtime does not have is an honest `NotOffered` with the reason. The clause then counts as not passed and says so.
 * Q3  A crash takes no leave: the process is killed, or the runtime is left lying with calls that never return. A new
 *     runtime is opened on the same folder.
 */

export type Service = 'keyed' | 'queryable' | 'blind';

/** What a model asks for; `ask` is a question to the person, whose answer is the result of the call. */
export interface Wanted {
  readonly tool: Service | 'ask';
  /** What it is about: names it in the books, or the question. */
  readonly what: string;
}

export type ResultStatus = 'done' | 'failed' | 'unknown';

/** What a model gets, as far as the clauses look at it. */
export type Told =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly Wanted[] }
  | { readonly role: 'result'; readonly status: ResultStatus; readonly text: string };

export type Reply = { readonly call: Wanted } | { readonly say: string };

/** An answer of a service. A lost answer is no answer: the call throws. */
export type Answer =
  | { readonly status: 'done'; readonly receipt: string }
  | { readonly status: 'refused'; readonly reason: string };

export interface Outside {
  think(conversation: readonly Told[]): Promise<Reply>;
  /** `keyed` does it once for each key; the others do it as often as they are called. */
  call(service: Service, what: string, key: string): Promise<Answer>;
  /** `queryable` alone knows what was done under a key; null when nothing was. */
  find(service: Service, key: string): Promise<Answer | null>;
}

export interface Statement {
  readonly text: string;
  /** What goes out beside the text about effects, by what they were about. */
  readonly effects: readonly { readonly what: string; readonly status: string }[];
}

export interface Question {
  readonly id: string;
  readonly text: string;
}

/** A runtime that is open on a folder. Sessions are named by what `start` and `fork` give. */
export interface Runtime {
  /** Resolves once the message is durable. */
  start(message: string): Promise<string>;
  /**
   * The same `key` again is the same message. Resolves once it is durable. The person wants an answer now, also while a
   * question stands open.
   */
  send(session: string, message: string, key: string): Promise<void>;
  /** Called once after opening: everything that was at work goes on. */
  recover(): Promise<void>;
  /** Resolves when nothing more happens by itself: it is answered, or waits for a person. */
  rest(session: string): Promise<void>;
  /**
   * What is durable of a session, entry by entry, byte for byte. An entry that only holds a late answer of a worker that was
   * replaced begins with `evidence`.
   */
  transcript(session: string): Promise<readonly string[]>;
  /** What stands in words, without ids and times: `person: …`, `answer: …`, `effect: …`. */
  conversation(session: string): Promise<readonly string[]>;
  questions(session: string): Promise<readonly Question[]>;
  decide(session: string, question: string, answer: string): Promise<void>;
  /** What has gone out to the person, with what the runtime itself says about effects. */
  statements(session: string): Promise<readonly Statement[]>;
  checkpoints(session: string): Promise<readonly string[]>;
  /** A session of its own that goes on from there. */
  fork(session: string, checkpoint: string): Promise<string>;
  /** The end that is no crash. */
  close(): Promise<void>;
}

/** Passed by everything that a runtime in the judge's own process does, so that it can die or freeze there. */
export interface Gate {
  /** Never resolves in a dead runtime, and not before the thaw in a frozen one. */
  pass(): Promise<void>;
}

export interface Subject {
  readonly name: string;
  readonly version: string;
  /** As it was run: one line for each choice that matters. */
  readonly settings: readonly string[];
  /**
   * `process`: each life is a process of its own, ended by SIGKILL; the subject is exported as `subject` by `module`.
   * `inline`: lives share this process, and `open` heeds its gate.
   */
  readonly lives: 'process' | 'inline';
  readonly module?: string;
  open(folder: string, outside: Outside, gate: Gate): Promise<Runtime>;
  /** A second folder with the same durable state; by default the files are copied. */
  copy?(from: string, to: string): Promise<void>;
  /** Ends what `open` keeps between lives. */
  close?(): Promise<void>;
  /** The same runtime with several workers of one process on one store, when a second process is not let in. */
  readonly together?: Subject;
}

export class NotOffered extends Error {
  override readonly name = 'NotOffered';
}

/** A runtime that will not open where another one may still be alive; its message says why. */
export class Refused extends Error {
  override readonly name = 'Refused';
}
