const MOST = 50;

/** Reports that were made, by key; the one that was not asked for longest goes first. */
export class ReportCache {
  #kept = new Map();

  get(key, make) {
    const value = this.#kept.has(key) ? this.#kept.get(key) : make();
    this.#kept.delete(key);
    this.#kept.set(key, value);
    if (this.#kept.size > MOST) this.#kept.delete(this.#kept.keys().next().value);
    return value;
  }

  get size() {
    return this.#kept.size;
  }
}
