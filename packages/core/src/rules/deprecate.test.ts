// Deprecations: one warning a process, whoever gives it.

import { afterEach, describe, expect, test, vi } from "vitest";
import { isMemoryError } from "../model/errors.ts";
import { deprecate } from "./deprecate.ts";

const notice = { subject: "Old.thing", replacement: "New.thing", since: "0.4.0", removal: "0.5.0" };

afterEach(() => {
  vi.restoreAllMocks();
});

describe("deprecate", () => {
  test("warns once, by its code, over several members and two copies of this package", async () => {
    const emit = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    vi.resetModules();
    const other = await import("./deprecate.ts");
    expect(other.deprecate).not.toBe(deprecate);
    const code = "MEMORY_DEP9001";
    for (const warn of [
      deprecate({ ...notice, code }),
      deprecate({ ...notice, code }),
      other.deprecate({ ...notice, code }),
    ]) {
      warn();
      warn();
    }
    expect(emit).toHaveBeenCalledTimes(1);
    const [message, options] = emit.mock.calls[0] ?? [];
    expect(options).toEqual({ type: "DeprecationWarning", code });
    for (const part of Object.values(notice)) expect(message).toContain(part);
  });

  test("is silent until it is used", () => {
    const emit = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    deprecate({ ...notice, code: "MEMORY_DEP9002" });
    expect(emit).not.toHaveBeenCalled();
  });

  test.each(["", "DEP0001", "MEMORY_DEP1", "MEMORY_DEP00001", "memory_dep0001"])("refuses the code %o", (code) => {
    expect.assertions(1);
    try {
      deprecate({ ...notice, code });
    } catch (error) {
      expect(isMemoryError(error, "MEMORY_SETTINGS") && error.setting).toBe("code");
    }
  });
});
