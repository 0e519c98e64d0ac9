// Building the page: elements from data. Text becomes text and nothing else: no string is ever parsed as markup.

/** `el('p', { class: 'note' }, 'text', child)`. `on` holds listeners, everything else becomes an attribute. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  const { on = {}, ...rest } = attributes;
  for (const [name, value] of Object.entries(rest)) {
    if (value === true) node.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, String(value));
  }
  for (const [name, listener] of Object.entries(on)) node.addEventListener(name, listener);
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== ''));
  return node;
}

export const byId = (id) => document.getElementById(id);

const PHASES = {
  working: 'working',
  awaiting_input: 'awaiting input',
  awaiting_decision: 'needs a decision',
  sleeping: 'sleeping',
  paused: 'paused',
  stopping: 'stopping',
  stopped: 'stopped',
  deleting: 'being deleted',
  deleted: 'deleted',
  completed: 'completed',
};

export function phaseBadge(phase) {
  return el('span', { class: `badge phase-${phase}` }, PHASES[phase] ?? phase);
}

export function statusBadge(status) {
  return el('span', { class: `badge status-${status}` }, status);
}

export function ago(at, now = Date.now()) {
  const seconds = Math.max(0, Math.round((now - at) / 1000));
  if (seconds < 10) return 'now';
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.round(seconds / 3600)} h ago`;
  return `${Math.round(seconds / 86400)} d ago`;
}

/** The first line of code that says something, without its comment marks. */
export function headline(source) {
  const line = source.split('\n').find((one) => one.trim() !== '') ?? '';
  return line.replace(/^\s*(\/\/|#)\s?/, '').trim();
}

/** Of a long address the path tells most; where there is none, the host does. */
export function shortTarget(target) {
  const [, method, host, path] = /^(\S+) https?:\/\/([^/]+)(\/.*)$/.exec(target) ?? [];
  if (path === undefined) return target;
  return `${method} ${path === '/' ? host : path}`;
}
