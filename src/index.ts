/** Outlast: agent tasks that outlive their first result. The public names of the library. */

export { type About, createOutlast, type OutlastOptions } from './compose.ts';
export type { Audit, Capability, Finding, Outcome } from './core/capability.ts';
export { type ErrorCode, OutlastError } from './core/error.ts';
export { DEFAULT_LIMITS, type Event, type EventKind, type ForeignEvent, type Limits } from './core/event.ts';
export { evolve, fold, initialState } from './core/evolve.ts';
export type { FileData, FileRef } from './core/file.ts';
export type { Owner, SessionId } from './core/ids.ts';
export type { Message, ModelRequest, Part, Receipt, ToolSpec, When } from './core/message.ts';
export type { Phase } from './core/phase.ts';
export type { Report, ReportLine } from './core/report.ts';
export type { State } from './core/state.ts';
export { type LanguageModelSettings, languageModel } from './models/language-model.ts';
export { type Model, ModelError, type ModelReply, type ReplyPart } from './models/port.ts';
export { chooseModel, providerModel } from './models/providers.ts';
export { scriptedPlanner } from './models/scripted/planner.ts';
export type { Forked, ForkRequest } from './runtime/fork.ts';
export type { Inspection, LedgerRow } from './runtime/inspect.ts';
export type { Outlast, SendOptions, Sessions, Started, StartRequest, Stopped } from './runtime/runtime.ts';
export type { Verification } from './runtime/verify.ts';
export type { Sandbox } from './sandbox/port.ts';
export { memoryStore } from './store/memory.ts';
export type { Store } from './store/port.ts';
export { sqliteStore } from './store/sqlite/open.ts';
export type { Grant } from './tools/grant.ts';
export { parseGrants } from './tools/grant-file.ts';
export { defineTool, failure } from './tools/own.ts';
export { NotSent, type Tool } from './tools/port.ts';
