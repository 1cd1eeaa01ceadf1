// A priority queue (binary heap) of the history's events, ordered by time. An event may add later events while it runs.

interface Event {
  at: number;
  serial: number;
  run: (at: number) => void;
}

const before = (a: Event, b: Event): boolean => a.at < b.at || (a.at === b.at && a.serial < b.serial);

export class Agenda {
  readonly #heap: Event[] = [];
  #serial = 0;

  add(at: number, run: (at: number) => void): void {
    const heap = this.#heap;
    let index = heap.length;
    heap.push({ at, serial: this.#serial++, run });
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!before(heap[index] as Event, heap[parent] as Event)) break;
      this.#swap(index, parent);
      index = parent;
    }
  }

  /** Removes and returns the earliest event; undefined if the queue is empty. */
  take(): Event | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (!first || !last || heap.length === 0) return first;
    heap[0] = last;
    for (let index = 0; ; ) {
      const left = index * 2 + 1;
      const right = left + 1;
      let smallest = index;
      if (left < heap.length && before(heap[left] as Event, heap[smallest] as Event)) smallest = left;
      if (right < heap.length && before(heap[right] as Event, heap[smallest] as Event)) smallest = right;
      if (smallest === index) return first;
      this.#swap(index, smallest);
      index = smallest;
    }
  }

  #swap(a: number, b: number): void {
    const held = this.#heap[a] as Event;
    this.#heap[a] = this.#heap[b] as Event;
    this.#heap[b] = held;
  }
}
