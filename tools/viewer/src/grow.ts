// Arrays that grow, and a table from goroutine ids to small numbers. Typed, because there may be
// millions.

export class GrowU32 {
  a = new Uint32Array(1024);
  n = 0;
  push(x: number): void {
    if (this.n === this.a.length) {
      const b = new Uint32Array(this.n * 2);
      b.set(this.a);
      this.a = b;
    }
    this.a[this.n++] = x;
  }
  done(): Uint32Array {
    return this.a.slice(0, this.n);
  }
}

export class GrowF64 {
  a = new Float64Array(1024);
  n = 0;
  push(x: number): void {
    if (this.n === this.a.length) {
      const b = new Float64Array(this.n * 2);
      b.set(this.a);
      this.a = b;
    }
    this.a[this.n++] = x;
  }
  done(): Float64Array {
    return this.a.slice(0, this.n);
  }
}

// Open addressing; keys are ids up to 2^53, values count from 0 in order of arrival.
export class IdTable {
  private keys = new Float64Array(4096).fill(-1);
  private values = new Int32Array(4096);
  private mask = 4095;
  n = 0;

  private slot(id: number): number {
    const lo = id >>> 0;
    const hi = (id / 4294967296) | 0;
    let h = Math.imul(lo ^ Math.imul(hi, 0x9e3779b1), 0x85ebca6b);
    h = (h ^ (h >>> 15)) & this.mask;
    const keys = this.keys;
    while (keys[h] !== id && keys[h] !== -1) h = (h + 1) & this.mask;
    return h;
  }

  find(id: number): number {
    const h = this.slot(id);
    return this.keys[h] === id ? this.values[h] : -1;
  }

  // The number of this id, a new one if need be.
  add(id: number): number {
    let h = this.slot(id);
    if (this.keys[h] === id) return this.values[h];
    if (this.n * 2 > this.mask) {
      this.grow();
      h = this.slot(id);
    }
    this.keys[h] = id;
    return (this.values[h] = this.n++);
  }

  private grow(): void {
    const { keys, values } = this;
    this.mask = this.mask * 2 + 1;
    this.keys = new Float64Array(this.mask + 1).fill(-1);
    this.values = new Int32Array(this.mask + 1);
    for (let i = 0; i < keys.length; i++) {
      if (keys[i] === -1) continue;
      const h = this.slot(keys[i]);
      this.keys[h] = keys[i];
      this.values[h] = values[i];
    }
  }
}
