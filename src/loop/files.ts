/**
 * Files between people, models and the store: sealed on their way in, opened for the request that shows them.
 *
 * B1  A file is sealed for the lineage of its session, and what is opened is what was sealed: its digest stands in the log.
 * B2  A file that cannot be read is told in words, and the turn goes on without it. A store that fails for the moment is
 *     no such case: then the call is not made.
 */

import { type FileData, type FileRef, nameOf } from '../core/file.ts';
import type { BlobRef, SessionId } from '../core/ids.ts';
import type { ModelRequest, RequestMessage, View, ViewMessage } from '../core/message.ts';
import { sha256 } from '../lib/digest.ts';
import type { Blob } from '../store/port.ts';
import type { Ports } from './ports.ts';
import { readBlob } from './read.ts';

const about = (lineage: SessionId): string => `file:${lineage}`;

/** For the commit that names it. */
export function sealFile(
  lineage: SessionId,
  { mediaType, data }: FileData,
  sealer: Ports['sealer'],
): { ref: FileRef; blob: Blob } {
  const bytes = sealer.seal(data, about(lineage));
  const blob = sha256(bytes) as BlobRef;
  return { ref: { mediaType, blob, bytes: data.length, digest: sha256(data) }, blob: { ref: blob, bytes } };
}

/** The file, or null when it is not there any more or not what was sealed (B1). */
export async function openFile(
  { session, lineage }: { readonly session: SessionId; readonly lineage: SessionId },
  { mediaType, blob, digest }: FileRef,
  { store, sealer }: Pick<Ports, 'store' | 'sealer'>,
): Promise<FileData | null> {
  const sealed = await readBlob(store, session, blob);
  const data = sealed && opened(sealed, lineage, sealer);
  return data && sha256(data) === digest ? { mediaType, data } : null;
}

function opened(sealed: Uint8Array, lineage: SessionId, sealer: Ports['sealer']): Uint8Array | null {
  try {
    return sealer.open(sealed, about(lineage));
  } catch {
    return null;
  }
}

type Read = (file: FileRef) => Promise<FileData | null>;

/** The request that a view stands for. */
export async function withFiles(view: View, read: Read): Promise<ModelRequest> {
  const { filesFrom, messages, ...rest } = view;
  if (filesFrom === null) return { ...rest, messages: messages as readonly RequestMessage[] };
  const resolvedOnes = messages.slice(0, filesFrom) as RequestMessage[];
  for (const message of messages.slice(filesFrom)) resolvedOnes.push(...(await resolved(message, read)));
  return { ...rest, messages: resolvedOnes };
}

async function resolved(message: ViewMessage, read: Read): Promise<readonly RequestMessage[]> {
  switch (message.role) {
    case 'user': {
      const { images: refs, ...words } = message;
      if (!refs) return [words];
      const found = await Promise.all(refs.map(async (ref) => ({ ref, file: await read(ref) })));
      const images = found.flatMap(({ file }) => file ?? []);
      const lost = found.flatMap(({ ref, file }) => (file ? [] : [unreadable(ref.name)]));
      return [
        images.length === 0 ? words : { ...words, images },
        ...(lost.length === 0 ? [] : [{ role: 'user' as const, text: `[outlast] ${lost.join('\n')}` }]),
      ];
    }
    case 'assistant': {
      const parts = message.parts.map(async (part) => {
        if (part.type !== 'file') return part;
        const file = await read(part);
        if (!file) return { type: 'text' as const, text: unreadable(nameOf(part)) };
        return { type: 'file' as const, ...file, ...(part.meta === undefined ? {} : { meta: part.meta }) };
      });
      return [{ role: 'assistant', parts: await Promise.all(parts) }];
    }
    case 'tool':
      return [message];
  }
}

const unreadable = (name: string): string => `[${name} could not be read]`;
