// Owns: what is noticed of the requests of a session, one after the other: how large they are, whether each begins as the
// one before it, and whether every rule that was said stands in it word for word.

/** On the safe side, as the runtime reckons. */
const BYTES_A_TOKEN = 3;

/** `note` gets `{ n, tokens, shared, before, anew, missing, rules }` of each request for work. */
export function observer(turns, rules, note) {
  let last = null;
  return (request) => {
    if (request.isCompaction) return;
    const stable = [request.system, ...request.messages.slice(0, request.stable)].map((part) =>
      JSON.stringify(part),
    );
    const n = Number(/^\((\d+)\) /.exec(request.messages.findLast(isSaid).text)[1]);
    const text = JSON.stringify([request.system, request.tools, request.messages]);
    const said = rules.filter((turn) => turn <= n).map((turn) => turns[turn].message);
    const missing = said.filter((rule) => !text.includes(JSON.stringify(rule).slice(1, -1)));
    const past = pastOf(request);
    note({
      n,
      tokens: tokensOf(text),
      shared: last === null ? 0 : lengthOf(last.stable.slice(0, sharedBy(last.stable, stable))),
      before: last === null ? 0 : lengthOf(last.stable),
      anew: last !== null && last.past !== past,
      missing: missing.length,
      rules: said.reduce((sum, rule) => sum + tokensOf(rule), 0),
    });
    last = { stable, past };
  };
}

const isSaid = ({ role, text }) => role === 'user' && /^\(\d+\) /.test(text);
const tokensOf = (text) => Math.ceil(Buffer.byteLength(text) / BYTES_A_TOKEN);

/** What stands for the compacted past: with another one the request begins anew. */
function pastOf({ messages: [first] }) {
  return first.role === 'user' && first.text.startsWith('[outlast] What came before') ? first.text : '';
}

function sharedBy(a, b) {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

const lengthOf = (parts) => parts.reduce((sum, part) => sum + part.length, 0);
