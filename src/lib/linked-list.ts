/** A node of a list, with which its value can be removed. */
export interface ListNode<T> {
  readonly value: T
  before: ListNode<T> | undefined
  after: ListNode<T> | undefined
}

/** A doubly linked list: adding at the end and removing any node take constant time. */
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

  /** Adds a value at the end. */
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
