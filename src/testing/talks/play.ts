/**
 * One labelled request in the real runtime: the tasks that are there before are started and have answered, then the model
 * that is judged reads what the person says. Its tasks are fakes: they answer at once, or work on for ever.
 */

import type { ModelRequest } from '../../core/message.ts';
import type { Model, ModelReply } from '../../models/port.ts';
import { harness } from '../harness.ts';
import { calls, say } from '../sim/reply.ts';
import type { Case, Given } from './cases.ts';
import { type Did, didOf } from './score.ts';

const isTalking = ({ tools }: ModelRequest): boolean => tools.some(({ name }) => name === 'start_task');

/** What the person has said so far, before the request: it starts what is given. */
const BEFORE = 'Please begin with what we spoke of.';

export async function play({ given, says }: Case, judged: Model): Promise<Did> {
  let underWay = 0;
  let isJudged = false;
  const talk = async (request: ModelRequest, signal: AbortSignal): Promise<ModelReply> => {
    if (!isJudged) return setting(request, given);
    underWay++;
    try {
      return await judged.generate(request, { signal });
    } finally {
      underWay--;
    }
  };
  const h = harness({
    model: async (request, { signal }) =>
      isTalking(request) ? talk(request, signal) : working(request, given),
    isUnderWay: () => underWay > 0,
  });
  try {
    const id = await h.converse(given.length === 0 ? 'Hello.' : BEFORE);
    await h.until(async () => {
      const s = await h.state(id);
      const atWork = s.family.children.filter(({ asked }) => asked.length > 0).length;
      const busy = given.filter(({ isBusy }) => isBusy).length;
      return (
        s.turn === null &&
        s.inbox.unread.length === 0 &&
        s.family.children.length === given.length &&
        atWork === busy
      );
    }, 'the tasks that are there before have answered');
    const before = (await h.state(id)).head;
    isJudged = true;
    await h.tell(id, says);
    const { children } = (await h.state(id)).family;
    return didOf(
      await h.log(id),
      before,
      (session) => children.find((one) => one.id === session)?.title ?? session,
    );
  } finally {
    h.end();
  }
}

/** Before the request the conversation does as the case says. */
function setting(request: ModelRequest, given: readonly Given[]): ModelReply {
  const since = request.messages.slice(
    request.messages.findLastIndex(({ role }) => role === 'assistant') + 1,
    -1,
  );
  const told = since.flatMap((message) => (message.role === 'user' ? [message.text] : []));
  if (told.includes(BEFORE))
    return calls(
      ...given.map(
        ({ title, request: task, keepOpen }) => ['start_task', { task, title, keep_open: keepOpen }] as const,
      ),
    );
  return say(told.some((text) => text.includes('answered:')) ? 'That one is there.' : 'They have begun.');
}

function working(request: ModelRequest, given: readonly Given[]): ModelReply {
  const said = request.messages.flatMap((message) => (message.role === 'user' ? [message.text] : []));
  const [order = ''] = said;
  const isBusy = given.some((one) => one.isBusy && one.request === order);
  return isBusy && said.length < 3
    ? calls(['sleep', { seconds: 30 * 86_400 }])
    : say('Here is what you asked for.');
}
