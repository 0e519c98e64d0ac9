/**
 * The sample mailing service: it accepts mail and can be asked by reference.
 *
 * Owns its routes and their wording; order, books and hooks are the edge's (`service.ts`).
 *
 * M1. Every accepted message is a message: the same reference twice is two mails. Deduplication is the sender's.
 * M2. A question by reference sees every message accepted before it.
 */
import type { Books, MailingFact, Row } from '../books.ts';
import { type Call, ok, refuse, textField } from '../http.ts';
import { type Route, type Service, type ServiceOptions, startService } from '../service.ts';

type Accepted = Extract<MailingFact, { kind: 'mail.accepted' }>;
type MailRoute = Route<MailingFact>;

export function startMailing(options: ServiceOptions): Promise<Service> {
  return startService('mailing', options, (books) => (call) => {
    switch (`${call.method} ${call.path}`) {
      case 'GET /':
        return ok(description);
      case 'POST /messages':
        return accept(call);
      case 'GET /messages':
        return ask(call, books);
      default:
        return refuse(404, 'path.unknown', 'No such path; GET / describes this API');
    }
  });
}

function accept(call: Call): ReturnType<MailRoute> {
  const to = textField(call.body, 'to');
  const subject = textField(call.body, 'subject');
  const body = textField(call.body, 'body');
  if (to === undefined || subject === undefined || body === undefined) {
    return refuse(
      400,
      'message.invalid',
      'Wanted: a JSON object with non-empty texts "to", "subject" and "body"',
    );
  }
  if (!/^[^\s@]+@[^\s@]+$/.test(to)) return refuse(400, 'message.invalid', '"to" is not one mail address');
  const reference = call.header('x-reference') ?? null;
  return {
    fact: { kind: 'mail.accepted', reference, to, subject, body },
    reply: (row) => ok({ id: idOf(row), acceptedAt: row.at }, 201),
  };
}

function ask(call: Call, books: Books<MailingFact>): ReturnType<MailRoute> {
  const reference = call.query.get('reference');
  if (!reference) return refuse(400, 'reference.missing', 'Ask with ?reference=…');
  return {
    fact: { kind: 'mail.asked', reference },
    reply: () => {
      const accepted = books.rows.filter(isAccepted).filter((row) => row.reference === reference);
      const messages = accepted.map((row) => ({
        id: idOf(row),
        acceptedAt: row.at,
        reference,
        to: row.to,
        subject: row.subject,
        body: row.body,
      }));
      return ok({ messages });
    },
  };
}

function isAccepted(row: Row<MailingFact>): row is Row<Accepted> {
  return row.kind === 'mail.accepted';
}

function idOf(row: { readonly n: number }): string {
  return `mail_${row.n}`;
}

const description = {
  service: 'Sample mailing service',
  about: 'Accepts mail, and tells by reference what it accepted. All bodies are JSON.',
  endpoints: [
    {
      call: 'POST /messages',
      body: { to: 'one mail address', subject: 'text', body: 'text' },
      headers: { 'X-Reference': 'your own name for this message; without it nobody can ask for it later' },
      answers: '201 { id, acceptedAt }; the message is on its way and cannot be taken back',
      note: 'This service does not deduplicate: the same reference twice is two mails.',
    },
    {
      call: 'GET /messages?reference=R',
      answers:
        '200 { messages: [{ id, acceptedAt, reference, to, subject, body }] }, in the order of acceptance',
      note: 'A message is listed from the moment it is accepted. An empty list means that none was accepted so far.',
    },
  ],
  errors: 'A refusal has a status of 400 or above and { error: { code, message } }.',
};
