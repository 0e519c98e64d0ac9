/**
 * Lists of index rows, newest first. A row that cannot be read is listed as damaged, so that it neither hides nor hides
 * the others.
 */

import type { Owner, SessionId } from '../../core/ids.ts';
import type { ListQuery, Row, Summary } from '../port.ts';
import { asJson, asNumber, asText } from './cell.ts';
import { isDamage } from './damage.ts';
import type { Cell, Cells, Database, Statement, Value } from './driver.ts';

export function openList(db: Database): (query: ListQuery) => readonly Row[] {
  const statements = new Map<string, Statement>();
  return (query) => {
    const { where, values } = filter(query);
    const statement = statements.get(where) ?? db.prepare(select(where));
    statements.set(where, statement);
    return statement.all(...values, query.limit).map(toRow);
  };
}

const select = (where: string): string => `
  SELECT CAST(id AS BLOB) AS id, CAST(owner AS BLOB) AS owner, CAST(head AS INTEGER) AS head,
    CAST(epoch AS INTEGER) AS epoch, CAST(summary AS BLOB) AS summary
  FROM sessions ${where} ORDER BY started_at DESC, sessions.id DESC LIMIT ?`;

function filter({ owner, phase, awaiting, after }: ListQuery): { where: string; values: Value[] } {
  const terms: [string, Value | undefined][] = [
    ['owner = ?', owner],
    ['phase = ?', phase],
    ['(started_at, sessions.id) < (SELECT started_at, id FROM sessions WHERE id = ?)', after],
  ];
  const set = terms.filter(([, value]) => value !== undefined);
  // Word for word as in its index, or the index is of no use.
  const clauses = [...set.map(([term]) => term), ...(awaiting ? ['awaiting > 0'] : [])];
  const where = clauses.length === 0 ? '' : `WHERE ${clauses.join(' AND ')}`;
  return { where, values: set.map(([, value]) => value as Value) };
}

function toRow(cells: Cells): Row {
  const { id, owner, head, epoch } = cells;
  try {
    const summary = asJson(cells.summary) as Summary;
    return { ...summary, id: asText(id) as SessionId, head: asNumber(head), epoch: asNumber(epoch) };
  } catch (error) {
    if (!isDamage(error)) throw error;
    return { ...DAMAGED, id: lossy(id) as SessionId, owner: lossy(owner) as Owner, head: 0, epoch: 0 };
  }
}

const DAMAGED: Omit<Summary, 'owner'> = {
  phase: 'damaged',
  title: 'The index row of this session is damaged',
  persist: true,
  dueAt: null,
  updatedAt: 0,
  startedAt: 0,
  lastResponse: null,
  openDecisions: 0,
  unknownEffects: 0,
  turn: 0,
};

function lossy(cell: Cell | undefined): string {
  return cell instanceof Uint8Array ? Buffer.from(cell).toString('utf8') : '';
}
