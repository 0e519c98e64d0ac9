/**
 * How many tokens a request may have at the most, without a tokenizer: a third of its bytes, which is more than the
 * tokenizers of today make of text and code, and a round number for each image.
 *
 * A message is measured once, however many requests it stands in: a step costs the same late as early.
 */

import type { ModelRequest, RequestMessage } from '../../core/message.ts';

const BYTES_PER_TOKEN = 3;
/** More than providers count for the largest image that they take. */
const FILE_TOKENS = 3_000;

const measured = new WeakMap<object, number>();

export function inputTokens({ system, tools, messages }: ModelRequest): number {
  const text = bytesOf(system) + once(tools, () => bytesOf(JSON.stringify(tools)));
  let tokens = text / BYTES_PER_TOKEN;
  for (const message of messages) tokens += once(message, () => tokensOf(message));
  return Math.ceil(tokens);
}

function once(of: object, measure: () => number): number {
  const known = measured.get(of);
  if (known !== undefined) return known;
  const size = measure();
  measured.set(of, size);
  return size;
}

function tokensOf(message: RequestMessage): number {
  const files = message.role === 'user' ? (message.images ?? []) : partsOf(message).filter(isFile);
  const text = JSON.stringify(message, (_, value: unknown) => (value instanceof Uint8Array ? null : value));
  return bytesOf(text) / BYTES_PER_TOKEN + files.length * FILE_TOKENS;
}

const partsOf = (message: RequestMessage) => (message.role === 'assistant' ? message.parts : []);
const isFile = ({ type }: { readonly type: string }): boolean => type === 'file';

const bytesOf = (text: string): number => Buffer.byteLength(text);
