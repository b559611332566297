import { LinkedList, type ListNode } from './linked-list.ts'

/** All that wait under one key, oldest first. */
interface Group<T> {
  key: string
  waiting: LinkedList<T>
  /** Its place among the turns. */
  turn: ListNode<Group<T>> | undefined
  /** Its place among the groups of its size. */
  peer: ListNode<Group<T>> | undefined
}

/** A place in the line, by which one who waits leaves it before the turn. */
export interface Place<T> {
  group: Group<T>
  node: ListNode<T>
}

/**
 * A line in which groups take turns, and within a group those who came first: a group with many waiting delays the others
 * by one turn each time, and not by all of its own. Every operation takes constant time.
 */
export class FairLine<T> {
  readonly #groups = new Map<string, Group<T>>()
  /** Groups with work that waits; the first has the next turn. */
  readonly #turns = new LinkedList<Group<T>>()
  /** The same groups, by how many wait in each. */
  readonly #bySize: LinkedList<Group<T>>[] = []
  #largest = 0
  #size = 0

  /** How many wait. */
  get size(): number {
    return this.#size
  }

  /** Puts a value at the end of its group. */
  add(key: string, value: T): Place<T> {
    const group = this.#groups.get(key) ?? this.#begin(key)
    const node = group.waiting.push(value)
    this.#resized(group, group.waiting.size - 1)
    return { group, node }
  }

  /** Takes the oldest of the group whose turn it is, which then has the last turn. */
  takeNext(): T | undefined {
    const turn = this.#turns.first
    const node = turn?.value.waiting.first
    if (!turn || !node) return undefined
    const group = turn.value
    this.leave({ group, node })
    if (group.turn) {
      this.#turns.remove(turn)
      group.turn = this.#turns.push(group)
    }
    return node.value
  }

  /**
   * Takes the newest of the largest group, to make room for one more of another: undefined where that one's group would
   * not be the smaller of the two even then.
   */
  displaceFor(key: string): T | undefined {
    const own = this.#groups.get(key)?.waiting.size ?? 0
    const group = this.#bySize[this.#largest]?.first?.value
    const node = group?.waiting.last
    if (!group || !node || own + 1 >= this.#largest) return undefined
    this.leave({ group, node })
    return node.value
  }

  /** Takes one out who still waits. */
  leave({ group, node }: Place<T>): void {
    group.waiting.remove(node)
    this.#resized(group, group.waiting.size + 1)
  }

  #begin(key: string): Group<T> {
    const group: Group<T> = { key, waiting: new LinkedList(), turn: undefined, peer: undefined }
    this.#groups.set(key, group)
    group.turn = this.#turns.push(group)
    return group
  }

  #end(group: Group<T>): void {
    this.#groups.delete(group.key)
    if (group.turn) this.#turns.remove(group.turn)
    group.turn = undefined
  }

  /** Moves a group that has one more or one fewer than before to those of its size. */
  #resized(group: Group<T>, before: number): void {
    const { size } = group.waiting
    this.#size += size - before
    if (group.peer) this.#bySize[before]?.remove(group.peer)
    group.peer = undefined
    if (size === 0) this.#end(group)
    else group.peer = this.#ofSize(size).push(group)
    if (size > this.#largest) this.#largest = size
    // One step at most: this very group has become one smaller.
    else if (this.#bySize[this.#largest]?.size === 0) this.#largest -= 1
  }

  #ofSize(size: number): LinkedList<Group<T>> {
    this.#bySize[size] ??= new LinkedList()
    return this.#bySize[size]
  }
}
