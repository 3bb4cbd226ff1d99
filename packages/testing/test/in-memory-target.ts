// The in-memory store as a target of the suite: stores over one driver see the same data, and a record can be damaged on
// its way out, as a server's could be.

import { readFileSync } from "node:fs";
import type { MemoryKind, MemoryScope } from "@memory/core";
import { createMemoryStore, type MemoryDriver, sameScope } from "@memory/core/driver";
import { type InMemoryDriverOptions, inMemoryDriver } from "@memory/core/in-memory";
import type { ConformanceTarget, StoreOptions } from "../src/context.ts";
import { KINDS } from "../src/kinds.ts";

/** The width of its vectors. */
export const DIMENSIONS = 8;

// The family has one version, and the store is core's.
const ownVersion: string = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version;

interface Damaged {
  readonly scope: MemoryScope;
  readonly kind: MemoryKind;
  readonly key: string;
}

/** Small values in place of the largest (16 MiB): for runs that are about something else. */
export const SMALL_VALUES = { maxValueBytes: 262_144 } as const;

/** A target over shared in-memory drivers: one for each setting of the options that are the driver's. */
export function inMemoryTarget(
  options: Pick<InMemoryDriverOptions, "without" | "metric" | "maxValueBytes"> = {},
  wrap: (driver: MemoryDriver) => MemoryDriver = (driver) => driver,
): ConformanceTarget {
  const drivers = new Map<string, MemoryDriver>();
  const damaged: Damaged[] = [];
  const driverFor = ({ ttlMs, sliding, maxElements }: StoreOptions): MemoryDriver => {
    const name = JSON.stringify([ttlMs, sliding, maxElements]);
    const driver =
      drivers.get(name) ??
      wrap(
        damageable(
          inMemoryDriver({ ...options, ttlMs, sliding, maxElements, embeddingDimensions: DIMENSIONS }),
          damaged,
        ),
      );
    drivers.set(name, driver);
    return driver;
  };
  return {
    name: options.without === undefined ? "in-memory" : `in-memory without ${options.without.join(", ")}`,
    version: ownVersion,
    server: () => "none: one process",
    open: (given) => {
      const { ttlMs: _ttlMs, sliding: _sliding, maxElements: _maxElements, ...rest } = given;
      return createMemoryStore(driverFor(given), rest);
    },
    // The driver expires by the store's clock, which has been moved already.
    elapse: () => undefined,
    corrupt: (scope, kind, key) => {
      damaged.push({ scope, kind, key });
    },
  };
}

/** The driver, whose damaged records come out with a value that is not JSON. */
function damageable(driver: MemoryDriver, damaged: readonly Damaged[]): MemoryDriver {
  return new Proxy(driver, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      const kind = KINDS.find((one) => one === name);
      if (kind === undefined || typeof member !== "object" || member === null) return member;
      return new Proxy(member, {
        get(section, method) {
          const run: unknown = Reflect.get(section, method, section);
          if (typeof run !== "function") return run;
          return async (...args: readonly unknown[]) => {
            const answer: unknown = await Reflect.apply(run, section, args);
            const own = damaged.filter((one) => one.kind === kind);
            return own.length === 0 ? answer : damage(answer, own);
          };
        },
      });
    },
  });
}

function damage(answer: unknown, damaged: readonly Damaged[]): unknown {
  if (Array.isArray(answer)) return answer.map((one) => damage(one, damaged));
  if (typeof answer !== "object" || answer === null) return answer;
  const members = new Map(Object.entries(answer));
  const head: unknown = members.get("head");
  const at = (row: unknown) => damaged.some((one) => isAt(row, one));
  if (at(head)) return { ...answer, content: { value: "{" } };
  if (at(answer) && typeof members.get("value") === "string") return { ...answer, value: "{" };
  return Object.fromEntries([...members].map(([name, one]) => [name, name === "scope" ? one : damage(one, damaged)]));
}

function isAt(row: unknown, { scope, key }: Damaged): boolean {
  if (typeof row !== "object" || row === null) return false;
  const own: unknown = Reflect.get(row, "scope");
  return isScope(own) && sameScope(own, scope) && Reflect.get(row, "key") === key;
}

function isScope(value: unknown): value is MemoryScope {
  return typeof value === "object" && value !== null && typeof Reflect.get(value, "tenantId") === "string";
}
