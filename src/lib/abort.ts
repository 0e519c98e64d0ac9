/**
 * An abort whose signal is made when somebody asks for it. A step makes several and few of them are listened to, while
 * an AbortSignal with its listeners costs more than all else that surrounds a call.
 */

export class Abort {
  private controller: AbortController | null = null;
  private readonly outer: Abort | null;
  private readonly inner = new Set<Abort>();
  private gone = false;

  /** Comes with `outer`, too, until it is released. */
  constructor(outer: Abort | null = null) {
    this.outer = outer;
    this.gone = outer?.gone ?? false;
    outer?.inner.add(this);
  }

  get aborted(): boolean {
    return this.gone;
  }

  get signal(): AbortSignal {
    if (this.controller === null) {
      this.controller = new AbortController();
      if (this.gone) this.controller.abort();
    }
    return this.controller.signal;
  }

  abort(): void {
    if (this.gone) return;
    this.gone = true;
    this.controller?.abort();
    for (const inner of this.inner) inner.abort();
  }

  release(): void {
    this.outer?.inner.delete(this);
  }
}
