/** Where commands may connect to, as people write it: `api.example.org`, `*.example.org:443`, `127.0.0.1:8080`. */

/** What a host without a port means: the web. */
const WEB = [80, 443];

export interface Allowed {
  readonly host: RegExp;
  readonly ports: readonly number[];
}

/** Throws when one of them is no host with or without a port. */
export function allowedOf(list: readonly string[]): readonly Allowed[] {
  return list.map((text) => {
    const [, host = '', port] =
      /^((?:\*\.)?[A-Za-z0-9.-]+|\[[0-9a-fA-F:]+\])(?::(\d{1,5}))?$/.exec(text) ?? [];
    const isPort = port === undefined || (Number(port) >= 1 && Number(port) <= 65_535);
    if (host === '' || !isPort) throw new Error(`"${text}" is no host, nor host:port.`);
    return { host: patternOf(bare(host)), ports: port === undefined ? WEB : [Number(port)] };
  });
}

export function isAllowed(list: readonly Allowed[], host: string, port: number): boolean {
  const name = bare(host);
  return list.some((one) => one.ports.includes(port) && one.host.test(name));
}

const bare = (host: string): string => host.toLowerCase().replace(/^\[|\]$|\.$/g, '');

/** `*.` stands for one label or more, and never for the name itself. */
function patternOf(host: string): RegExp {
  const text = host.replace(/^\*\./, '').replace(/[.\\^$|?+()[\]{}*]/g, '\\$&');
  return new RegExp(`^${host.startsWith('*.') ? '(?:[a-z0-9-]+\\.)+' : ''}${text}$`);
}
