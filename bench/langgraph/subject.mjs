// LangGraph.js with its SQLite checkpointer under the port of the resume contract, as its documentation recommends.
//
// N1. A StateGraph over messages with an agent node and ToolNodes, a thread for each session (docs: Persistence). Durability
//     `sync` (docs: Durable execution).
// N2. What can be made idempotent is: by an idempotency key where the service takes one, by looking for an existing result
//     where it can be asked (docs: Functional API, on idempotency). The key is thread and tool call: the checkpoint holds it
//     before the tool runs. A tool call has one side effect and its node is a step of its own, so it is not split further;
//     with CONTRACT_LANGGRAPH=tasks each side effect stands in a task besides (docs: Durable execution).
// N3. Idempotent tools have a retry policy (docs: Fault tolerance). The blind one must not be retried: it stands in a
//     ToolNode with its default handling of errors.
// N4. Questions are interrupts, answered by `Command({ resume })` under the interrupt's id (docs: Interrupts).
// N5. After a restart each thread with a `next` and no interrupt goes on by `invoke(null)` (docs: Durable execution). The
//     application finds them.
// N6. Forks are `invoke` with an older `checkpoint_id` (docs: Use time-travel). They stand in the same thread, so the adapter
//     keeps which checkpoint is the newest of which branch, that of the original too.
// N7. A message carries its key as its id, by which the messages reducer replaces it (docs: Graph API). A second run on a
//     thread that is at work is refused by the adapter: the open source library has no queue (docs: Double texting).

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  AIMessage,
  HumanMessage,
  mapChatMessagesToStoredMessages,
  ToolMessage,
} from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { Command, END, interrupt, MessagesAnnotation, START, StateGraph, task } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import { z } from 'zod';

const withTasks = process.env.CONTRACT_LANGGRAPH === 'tasks';
const RETRY = { maxAttempts: 3, initialInterval: 50 };
const { dependencies } = JSON.parse(readFileSync(new URL('./package.json', import.meta.url), 'utf8'));

export const subject = {
  name: 'LangGraph.js',
  version: dependencies['@langchain/langgraph'],
  settings: [
    `@langchain/langgraph ${dependencies['@langchain/langgraph']}, SqliteSaver of @langchain/langgraph-checkpoint-sqlite ${dependencies['@langchain/langgraph-checkpoint-sqlite']}, @langchain/core ${dependencies['@langchain/core']}`,
    "StateGraph with ToolNodes, durability 'sync', one thread for each session",
    'idempotency key of thread and tool call; queryable: look, then call; both with a retry policy of 3 attempts',
    'blind: ToolNode with its default handling of errors, no retry',
    withTasks ? 'each side effect in a task' : 'no tasks: each tool call is one side effect',
    'interrupts answered by Command({ resume: { [interrupt]: answer } }); message ids as keys',
    'one process for each life, SIGKILL; after it invoke(null) on every thread with work left',
  ],
  lives: 'process',
  module: import.meta.url,
  open: async (folder, outside) => runtime(folder, outside),
};

function runtime(folder, outside) {
  const checkpointer = SqliteSaver.fromConnString(join(folder, 'checkpoints.sqlite'));
  const graph = graphOf(outside, checkpointer);
  /** Runs of this process, by thread: the promise of their end. */
  const runs = new Map();
  /** N6: branch → its newest checkpoint. A session without an entry is its thread. */
  const heads = new Map();

  const threadOf = (session) => session.split('#')[0];
  const configOf = (session) => ({
    configurable: {
      thread_id: threadOf(session),
      ...(heads.has(session) && { checkpoint_id: heads.get(session) }),
    },
  });
  const stateOf = (session) => graph.getState(configOf(session));
  const newest = async (thread) =>
    (await graph.getState({ configurable: { thread_id: thread } })).config.configurable?.checkpoint_id;
  const messagesOf = async (session) => (await stateOf(session)).values.messages ?? [];

  function run(session, input) {
    const thread = threadOf(session);
    if (runs.has(thread)) throw new Error('a run is active on this thread');
    const end = graph
      .invoke(input, { ...configOf(session), durability: 'sync', recursionLimit: 50 })
      .catch((error) => process.stderr.write(`${thread}: ${error.message}\n`))
      .then(async () => {
        if (heads.has(session)) heads.set(session, await newest(thread));
        runs.delete(thread);
      });
    runs.set(thread, end);
    return end;
  }

  /** Starts a run, and resolves once its input is in a checkpoint. */
  async function durably(session, input) {
    const thread = threadOf(session);
    const before = await newest(thread);
    let isOver = false;
    run(session, input).then(() => {
      isOver = true;
    });
    while (!isOver && (await newest(thread)) === before) await new Promise((done) => setTimeout(done, 5));
  }

  return {
    async start(message) {
      const session = randomUUID();
      await durably(session, { messages: [new HumanMessage({ id: `start-${session}`, content: message })] });
      return session;
    },
    send: (session, message, key) =>
      durably(session, { messages: [new HumanMessage({ id: key, content: message })] }),
    async recover() {
      const threads = new Set();
      for await (const { config } of checkpointer.list({ configurable: {} }))
        threads.add(config.configurable.thread_id);
      for (const thread of threads) {
        const { next, tasks } = await stateOf(thread);
        if (next.length > 0 && tasks.every(({ interrupts }) => interrupts.length === 0)) run(thread, null);
      }
    },
    async rest(session) {
      await runs.get(threadOf(session));
    },
    async transcript(session) {
      return mapChatMessagesToStoredMessages(await messagesOf(session)).map((message) =>
        JSON.stringify(message),
      );
    },
    async conversation(session) {
      const messages = await messagesOf(session);
      return messages.flatMap((message) => {
        if (message.getType() === 'human') return [`person: ${message.content}`];
        if (message.getType() === 'tool')
          return [`effect: ${whatOf(messages, message)} ${statusOf(message)}`];
        return message.tool_calls?.length ? [] : [`answer: ${message.content}`];
      });
    },
    async questions(session) {
      const { tasks } = await stateOf(session);
      return tasks.flatMap(({ interrupts }) =>
        interrupts.map(({ id, value }) => ({ id, text: String(value) })),
      );
    },
    async decide(session, question, answer) {
      await run(session, new Command({ resume: { [question]: answer } }));
    },
    /** The nearest that there is to effects beside an answer: the tool messages of its turn, with their status. */
    async statements(session) {
      const messages = await messagesOf(session);
      return messages.flatMap((message, i) => {
        if (message.getType() !== 'ai' || message.tool_calls?.length) return [];
        const since = messages.slice(0, i).findLastIndex((one) => one.getType() === 'human');
        const effects = messages
          .slice(since, i)
          .filter((one) => one.getType() === 'tool')
          .map((one) => ({ what: whatOf(messages, one), status: statusOf(one) }));
        return [{ text: String(message.content), effects }];
      });
    },
    async checkpoints(session) {
      const ids = [];
      for await (const { config } of graph.getStateHistory(configOf(session)))
        ids.unshift(config.configurable.checkpoint_id);
      return ids;
    },
    async fork(session, checkpoint) {
      const thread = threadOf(session);
      if (!heads.has(session)) heads.set(session, await newest(thread));
      const fork = `${thread}#${heads.size}`;
      heads.set(fork, checkpoint);
      if ((await stateOf(fork)).next.length > 0) run(fork, null);
      return fork;
    },
    async close() {
      await Promise.all(runs.values());
      checkpointer.db.close();
    },
  };
}

function graphOf(outside, checkpointer) {
  // N2.
  const asTask = (name, fn, retry) => (withTasks ? task({ name, ...(retry && { retry }) }, fn) : fn);
  const send = (service, what, key) => outside.call(service, what, key);
  const lookAndSend = async (service, what, key) =>
    (await outside.find(service, key)) ?? outside.call(service, what, key);
  const service = (name, perform) =>
    tool(
      async ({ what }, config) => {
        const id = config.toolCallId;
        const answer = await perform(name, what, `${config.configurable.thread_id}:${id}`);
        if (answer.status === 'done') return answer.receipt;
        return new ToolMessage({ status: 'error', content: answer.reason, tool_call_id: id, name });
      },
      { name, description: `The ${name} service.`, schema: z.object({ what: z.string() }) },
    );
  const ask = tool(async ({ what }) => interrupt(what), {
    name: 'ask',
    description: 'Asks the person.',
    schema: z.object({ what: z.string() }),
  });

  const agent = async ({ messages }) => {
    const reply = await outside.think(messages.flatMap(toldBy));
    if ('say' in reply) return { messages: [new AIMessage(reply.say)] };
    const call = { id: `call_${randomUUID()}`, name: reply.call.tool, args: { what: reply.call.what } };
    return { messages: [new AIMessage({ content: '', tool_calls: [call] })] };
  };
  const route = ({ messages }) => {
    const [call] = messages.at(-1)?.tool_calls ?? [];
    if (!call) return END;
    return call.name === 'blind' ? 'blindTools' : 'tools';
  };

  const idempotent = [
    service('keyed', asTask('keyed', send, RETRY)),
    service('queryable', asTask('queryable', lookAndSend, RETRY)),
    ask,
  ];
  return new StateGraph(MessagesAnnotation)
    .addNode('agent', agent)
    .addNode('tools', new ToolNode(idempotent, { handleToolErrors: false }), {
      retryPolicy: RETRY,
    })
    .addNode('blindTools', new ToolNode([service('blind', asTask('blind', send))]))
    .addEdge(START, 'agent')
    .addConditionalEdges('agent', route, ['tools', 'blindTools', END])
    .addEdge('tools', 'agent')
    .addEdge('blindTools', 'agent')
    .compile({ checkpointer });
}

function toldBy(message) {
  switch (message.getType()) {
    case 'human':
      return [{ role: 'user', text: String(message.content) }];
    case 'tool':
      return [{ role: 'result', status: statusOf(message), text: String(message.content) }];
    default: {
      const calls = (message.tool_calls ?? []).map(({ name, args }) => ({ tool: name, what: args.what }));
      return [{ role: 'assistant', text: String(message.content), calls }];
    }
  }
}

const statusOf = (message) => (message.status === 'error' ? 'failed' : 'done');

const whatOf = (messages, { tool_call_id: id }) =>
  messages.flatMap((message) => message.tool_calls ?? []).find((call) => call.id === id)?.args.what ?? '';
