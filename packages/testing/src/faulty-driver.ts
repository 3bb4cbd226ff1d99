// A driver that fails on purpose: wraps any other and, at the calls that a plan names, refuses, loses the request or the
// reply, or says nothing. What networks do to a store, without a network.

import type { MemoryDriver } from "@memory/core/driver";

/**
 * What goes wrong with a call. `refused`: transient, surely without effect. `request-lost`: transient, without effect, but
 * the driver cannot know. `reply-lost`: transient, after the effect. `silent`: no effect and never an answer.
 * `silent-after`: the effect, and never an answer. `exhausted`: the server has no room. `fatal`: calling again cannot help.
 */
export type FaultKind = "refused" | "request-lost" | "reply-lost" | "silent" | "silent-after" | "exhausted" | "fatal";

/** Which calls a fault hits. */
export interface Fault {
  /** The driver's method, with its section: `working.append`, `profile.commit`, `verify`; absent: any. */
  readonly on?: string;
  readonly fault: FaultKind;
  /** The first call that it hits, counting from 1 among those that `on` names; default 1. */
  readonly nth?: number;
  /** How many calls from there on; default 1. */
  readonly times?: number;
}

/** What a hit call rejects with; carries content, as a client's errors do, so that a test can look for leaks. */
export class InjectedFault extends Error {
  readonly fault: FaultKind;
  /** The arguments of the call. */
  readonly parameters: unknown;
  constructor(fault: FaultKind, method: string, parameters: unknown) {
    super(`${fault} at ${method} with ${JSON.stringify(parameters)}`);
    this.name = "InjectedFault";
    this.fault = fault;
    this.parameters = parameters;
  }
}

/** A driver under a plan of faults. */
export interface FaultyDriver {
  /** The driver to put a store over. */
  readonly driver: MemoryDriver;
  /** Every call so far, by method, hit or not. */
  readonly calls: readonly string[];
}

/** Wraps a driver; the wrapped one is used for what is not hit, and answers for errors that are not injected. */
export function faultyDriver(inner: MemoryDriver, plan: readonly Fault[]): FaultyDriver {
  const calls: string[] = [];
  const hits = plan.map((fault) => ({ fault, seen: 0 }));

  const faultFor = (method: string): FaultKind | undefined => {
    let found: FaultKind | undefined;
    for (const hit of hits) {
      if (hit.fault.on !== undefined && hit.fault.on !== method) continue;
      hit.seen += 1;
      const from = hit.fault.nth ?? 1;
      if (hit.seen >= from && hit.seen < from + (hit.fault.times ?? 1)) found ??= hit.fault.fault;
    }
    return found;
  };

  const call = async (method: string, parameters: unknown, effect: () => unknown): Promise<unknown> => {
    calls.push(method);
    const fault = faultFor(method);
    if (fault === undefined) return effect();
    if (fault === "reply-lost" || fault === "silent-after") await effect();
    if (fault === "silent" || fault === "silent-after") return new Promise<never>(() => undefined);
    throw new InjectedFault(fault, method, parameters);
  };

  // A proxy keeps absent members absent: the store's capabilities are those of the wrapped driver. It stands over an empty
  // object, because over a frozen one it could not answer for a member with anything but that member.
  const wrapSection = (section: object, path: string): object =>
    new Proxy<object>(Object.create(section), {
      get(_, name) {
        const member: unknown = Reflect.get(section, name, section);
        if (typeof member !== "function") return member;
        return (...args: readonly unknown[]) =>
          call(`${path}${String(name)}`, args[0], () => Reflect.apply(member, section, args));
      },
    });

  const sections = new Map<string, object>();
  const driver = new Proxy<MemoryDriver>(Object.create(inner), {
    get(_, name) {
      const target = inner;
      const member: unknown = Reflect.get(target, name, target);
      if (name === "isTransient") {
        return (error: unknown) => (error instanceof InjectedFault ? isLost(error) : target.isTransient(error));
      }
      if (name === "isExhausted") {
        return (error: unknown) =>
          error instanceof InjectedFault ? error.fault === "exhausted" : target.isExhausted(error);
      }
      if (name === "hadNoEffect") {
        return (error: unknown) =>
          error instanceof InjectedFault ? error.fault === "refused" : (target.hadNoEffect?.(error) ?? false);
      }
      if (name === "toMemoryError") {
        return (error: unknown) => (error instanceof InjectedFault ? undefined : target.toMemoryError?.(error));
      }
      if (name === "verify" && typeof member === "function") {
        return (...args: readonly unknown[]) => call("verify", args[0], () => Reflect.apply(member, target, args));
      }
      if (typeof member === "function") return (...args: readonly unknown[]) => Reflect.apply(member, target, args);
      if (typeof name !== "string" || !SECTIONS.includes(name) || typeof member !== "object" || member === null) {
        return member;
      }
      const section = sections.get(name) ?? wrapSection(member, `${name}.`);
      sections.set(name, section);
      return section;
    },
  });
  return { driver, calls };
}

const SECTIONS: readonly string[] = ["working", "profile", "episodic", "semantic", "erasure"];

function isLost(error: InjectedFault): boolean {
  return error.fault === "refused" || error.fault === "request-lost" || error.fault === "reply-lost";
}
