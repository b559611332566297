/** A node of a list serves to remove its value. */
interface ListNode<T> {
  readonly value: T
  before: ListNode<T> | undefined
  after: ListNode<T> | undefined
}

/** The list is doubly linked: adding at the end and removing any node take constant time. */
export class LinkedList<T> {
  #first: ListNode<T> | undefined
  #last: ListNode<T> | undefined
  #size = 0

  get first(): ListNode<T> | undefined {
    return this.#first
  }

  get last(): ListNode<T> | undefined {
    return this.#last
  }

  get size(): number {
    return this.#size
  }

  push(value: T): ListNode<T> {
    const node: ListNode<T> = { value, before: this.#last, after: undefined }
    if (this.#last) this.#last.after = node
    else this.#first = node
    this.#last = node
    this.#size += 1
    return node
  }

  /** Removes a node, which must be in this list. */
  remove(node: ListNode<T>): void {
    if (node.before) node.before.after = node.after
    else this.#first = node.after
    if (node.after) node.after.before = node.before
    else this.#last = node.before
    this.#size -= 1
  }
}

/** The group holds all values that wait under one key, oldest first. */
interface Group<T> {
  key: string
  waiting: LinkedList<T>
  /** This is the node in the list of turns. */
  turn: ListNode<Group<T>> | undefined
  /** This is the node in the list of groups with the same size. */
  peer: ListNode<Group<T>> | undefined
}

/** The entry of a value serves to remove it before its turn. */
export interface QueueEntry<T> {
  group: Group<T>
  node: ListNode<T>
}

/**
 * Groups take turns in the queue, and each group is first in, first out. A group with many values delays the other
 * groups by one turn at a time, and not by all of its values. Every operation takes constant time.
 */
export class FairQueue<T> {
  readonly #groups = new Map<string, Group<T>>()
  /** These groups have waiting values; the first has the next turn. */
  readonly #turns = new LinkedList<Group<T>>()
  /** These are the same groups, by the number of their waiting values. */
  readonly #bySize: LinkedList<Group<T>>[] = []
  #largest = 0
  #size = 0

  /** This counts the waiting values. */
  get size(): number {
    return this.#size
  }

  /** Adds a value at the end of its group. */
  enqueue(key: string, value: T): QueueEntry<T> {
    const group = this.#groups.get(key) ?? this.#addGroup(key)
    const node = group.waiting.push(value)
    this.#moveToSize(group, group.waiting.size - 1)
    return { group, node }
  }

  /** Removes the oldest value of the group whose turn it is; that group then has the last turn. */
  dequeue(): T | undefined {
    const turn = this.#turns.first
    const node = turn?.value.waiting.first
    if (!turn || !node) return undefined
    const group = turn.value
    this.remove({ group, node })
    if (group.turn) {
      this.#turns.remove(turn)
      group.turn = this.#turns.push(group)
    }
    return node.value
  }

  /**
   * Removes the newest value of the largest group, to make room for a new value of another group. Returns undefined if
   * that other group would then not be the smaller one.
   */
  evictFor(key: string): T | undefined {
    const group = this.#bySize[this.#largest]?.first?.value
    const node = group?.waiting.last
    if (!group || !node || !this.canEvictFor(key)) return undefined
    this.remove({ group, node })
    return node.value
  }

  /** Tells whether `evictFor` would remove a value. */
  canEvictFor(key: string): boolean {
    return (this.#groups.get(key)?.waiting.size ?? 0) + 1 < this.#largest
  }

  /** Removes a value that still waits. */
  remove({ group, node }: QueueEntry<T>): void {
    group.waiting.remove(node)
    this.#moveToSize(group, group.waiting.size + 1)
  }

  #addGroup(key: string): Group<T> {
    const group: Group<T> = { key, waiting: new LinkedList(), turn: undefined, peer: undefined }
    this.#groups.set(key, group)
    group.turn = this.#turns.push(group)
    return group
  }

  #removeGroup(group: Group<T>): void {
    this.#groups.delete(group.key)
    if (group.turn) this.#turns.remove(group.turn)
    group.turn = undefined
  }

  /** Moves a group to the list for its new size, after one value was added or removed. */
  #moveToSize(group: Group<T>, before: number): void {
    const { size } = group.waiting
    this.#size += size - before
    if (group.peer) this.#bySize[before]?.remove(group.peer)
    group.peer = undefined
    if (size === 0) this.#removeGroup(group)
    else group.peer = this.#ofSize(size).push(group)
    if (size > this.#largest) this.#largest = size
    // This is one step at most: no group but this one has become smaller, and it has by one.
    else if (this.#bySize[this.#largest]?.size === 0) this.#largest -= 1
  }

  #ofSize(size: number): LinkedList<Group<T>> {
    this.#bySize[size] ??= new LinkedList()
    return this.#bySize[size]
  }
}
