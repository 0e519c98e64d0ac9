/** `12.50` as 1250 cents. Amounts are whole cents everywhere; nothing else adds up. */
export function parseAmount(text) {
  const match = /^(-?)(\d+)(?:\.(\d{1,2}))?$/.exec(text.trim());
  if (!match) throw new Error(`"${text}" is no amount`);
  const [, sign, whole, part = ''] = match;
  const cents = Number(whole) * 100 + Number(part.padEnd(2, '0'));
  return sign === '-' ? -cents : cents;
}
