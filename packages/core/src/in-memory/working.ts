// Working memory: a map of entries, each with its expiry. Expired entries read as absent at once and leave when a write or a
// listing comes by; a queue ordered by expiry finds them, so that none stays for ever.

import type {
  AppendReply,
  AppendRequest,
  ErasureTarget,
  KeyPosition,
  StoredRecord,
  WorkingContent,
  WorkingEntry,
  WorkingKeyRow,
  WorkingSection,
} from "../model/driver.ts";
import type { EpochMs } from "../model/record.ts";
import type { MemoryScope } from "../model/scope.ts";
import type { Kept } from "./erasure.ts";
import { Keyed } from "./keyed.ts";
import { Ordered, take } from "./ordered.ts";

/** How long things stay, and how much. */
export interface WorkingOptions {
  readonly ttlMs: number | undefined;
  readonly sliding: boolean;
  readonly maxElements: number;
}

interface Slot extends KeyPosition {
  /** Tells slots of one expiry apart. */
  readonly serial: number;
  head: StoredRecord;
  content: WorkingContent;
  /** The elements of a sequence, which `append` adds to; then `content.items` is this array. */
  items: string[] | undefined;
  expiresAt: EpochMs;
  /** The expiry was set by `expire`, so that reading does not slide it. */
  isExplicit: boolean;
  /** Where the slot stands in the expiry queue: never after `expiresAt`, which may have moved on since. */
  queuedAt: EpochMs;
}

interface Answer {
  readonly token: string;
  readonly reply: AppendReply;
  readonly until: EpochMs;
  /** Tells answers of one instant apart. */
  readonly serial: number;
}

const NEVER = Number.POSITIVE_INFINITY;

// How many due entries one write removes of each queue: more than it can add, so that the queues drain.
const DRAIN = 8;

/** The working section. `put`, `get` and `append` to what is there cost O(1), a new key O(log n). */
export function workingMemory({ ttlMs, sliding, maxElements }: WorkingOptions): Kept<WorkingSection> {
  const slots = new Keyed<Slot>();
  const queue = new Ordered<Slot>((a, b) => a.queuedAt - b.queuedAt || a.serial - b.serial);
  let serial = 0;
  // What appends were answered: by token, and in the order in which it is forgotten.
  const answers = new Map<string, Answer>();
  const forgetting = new Ordered<Answer>((a, b) => a.until - b.until || a.serial - b.serial);

  return {
    kind: "working",
    meant: (target, now) => live(target, now).map(({ head }) => head),
    erase: (target) => {
      for (const slot of slots.meant(target)) drop(slot);
    },
    section: {
      under: true,
      maxElements,

      async put({ head, content, expiresInMs }, call): Promise<void> {
        drain(call.now);
        const items = content.items?.slice();
        const held: WorkingContent = items === undefined ? content : { items };
        const there = find(head.scope, head.key, call.now);
        const slot = there ?? add(head, held, items, call.now);
        if (there !== undefined) {
          there.head = head;
          there.content = held;
          there.items = items;
          rearm(there, call.now);
        }
        if (expiresInMs !== undefined) arm(slot, call.now + expiresInMs, true);
      },

      async get({ scope, key, last }, call): Promise<WorkingEntry | null> {
        const slot = find(scope, key, call.now);
        if (slot === undefined) return null;
        if (sliding && !slot.isExplicit) rearm(slot, call.now);
        const { head, content, items } = slot;
        if (items === undefined) return { head, content };
        return { head, content: { items: items.slice(last === undefined ? 0 : Math.max(items.length - last, 0)) } };
      },

      async append(request, call): Promise<AppendReply> {
        drain(call.now);
        const answered = answers.get(request.token);
        if (answered !== undefined && answered.until >= call.now) return answered.reply;
        const reply = append(request, call.now);
        if (answered !== undefined) forget(answered);
        remember(request.token, reply, call.now + call.budgetMs);
        return reply;
      },

      async expire({ scope, key, ttlMs: leftMs }, call): Promise<boolean> {
        const slot = find(scope, key, call.now);
        if (slot === undefined) return false;
        if (leftMs <= 0) drop(slot);
        else arm(slot, call.now + leftMs, true);
        return true;
      },

      async keys(request, call): Promise<readonly WorkingKeyRow[]> {
        const gone: Slot[] = [];
        const rows = take(rowsOf(slots.page(request), call.now, gone), request.limit);
        for (const slot of gone) drop(slot);
        return rows;
      },
    },
  };

  function append(request: AppendRequest, now: EpochMs): AppendReply {
    const { scope, key, item, head, after } = request;
    const slot = find(scope, key, now);
    const length = slot === undefined ? 0 : (slot.items?.length ?? 1);
    if (after !== undefined && after !== length) return { outcome: "moved", length };
    if (length >= maxElements) return { outcome: "full", length, limit: maxElements };
    if (slot === undefined) {
      const items = [item];
      add(head, { items }, items, now);
    } else {
      if (slot.items === undefined) {
        slot.items = [slot.content.value ?? ""];
        slot.content = { items: slot.items };
      }
      slot.items.push(item);
      rearm(slot, now);
    }
    return { outcome: "appended", length: length + 1 };
  }

  // The slot at a place, unless its time is over.
  function find(scope: MemoryScope, key: string, now: EpochMs): Slot | undefined {
    const slot = slots.get(scope, key);
    if (slot === undefined || now < slot.expiresAt) return slot;
    drop(slot);
    return undefined;
  }

  function add(head: StoredRecord, content: WorkingContent, items: string[] | undefined, now: EpochMs): Slot {
    const { scope, key } = head;
    serial += 1;
    const slot: Slot = {
      serial,
      scope,
      key,
      head,
      content,
      items,
      expiresAt: NEVER,
      isExplicit: false,
      queuedAt: NEVER,
    };
    slots.add(slot);
    rearm(slot, now);
    return slot;
  }

  function drop(slot: Slot): void {
    slots.delete(slot);
    if (slot.queuedAt !== NEVER) queue.delete(slot);
  }

  function rearm(slot: Slot, now: EpochMs): void {
    if (ttlMs !== undefined) arm(slot, now + ttlMs, false);
  }

  // A later expiry leaves the slot where it is queued, so that re-arming costs nothing; `drain` queues it again.
  function arm(slot: Slot, expiresAt: EpochMs, isExplicit: boolean): void {
    slot.expiresAt = expiresAt;
    slot.isExplicit = isExplicit;
    if (expiresAt >= slot.queuedAt) return;
    enqueue(slot);
  }

  function enqueue(slot: Slot): void {
    if (slot.queuedAt !== NEVER) queue.delete(slot);
    slot.queuedAt = slot.expiresAt;
    queue.add(slot);
  }

  function drain(now: EpochMs): void {
    for (let count = 0; count < DRAIN; count += 1) {
      const slot = queue.seek();
      if (slot === undefined || slot.queuedAt > now) break;
      if (slot.expiresAt <= now) drop(slot);
      else enqueue(slot);
    }
    for (let count = 0; count < DRAIN; count += 1) {
      const answer = forgetting.seek();
      if (answer === undefined || answer.until >= now) break;
      forget(answer);
    }
  }

  function remember(token: string, reply: AppendReply, until: EpochMs): void {
    serial += 1;
    const answer: Answer = { token, reply, until, serial };
    answers.set(token, answer);
    forgetting.add(answer);
  }

  function forget(answer: Answer): void {
    answers.delete(answer.token);
    forgetting.delete(answer);
  }

  function live(target: ErasureTarget, now: EpochMs): Slot[] {
    return slots.meant(target).filter((slot) => now < slot.expiresAt);
  }
}

// The keys that are there, one by one; those whose time is over are put aside.
function* rowsOf(slots: Iterable<Slot>, now: EpochMs, gone: Slot[]): Generator<WorkingKeyRow, void, undefined> {
  for (const slot of slots) {
    const { scope, key, expiresAt } = slot;
    if (expiresAt <= now) gone.push(slot);
    else yield { scope, key, expiresInMs: expiresAt === NEVER ? undefined : expiresAt - now };
  }
}
