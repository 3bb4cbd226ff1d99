// What the network does to the connections of clients, at a TCP proxy before the server.

import { setTimeout as pause } from "node:timers/promises";
import type { ProxyFaults, TcpProxy } from "@tooling/servers";
import { allHarmless, type FaultAction, harmless } from "./rig.ts";

/** The faults of a network in front of these proxies. */
export function networkFaults(proxies: readonly TcpProxy[]): Readonly<Record<string, FaultAction>> {
  const each = (act: (proxy: TcpProxy) => void): void => {
    for (const proxy of proxies) act(proxy);
  };
  const during = async (faults: ProxyFaults, ms: number): Promise<void> => {
    each((proxy) => proxy.set(faults));
    await pause(ms);
    each((proxy) => proxy.set({}));
  };
  const repeatedly = async (ms: number, act: (proxy: TcpProxy) => void): Promise<void> => {
    for (let rest = ms; rest > 0; rest -= 150) {
      each(act);
      await pause(Math.min(rest, 150));
    }
  };
  return allHarmless({
    delay: (ms, number) => during({ delayMs: 5 + (number % 120) }, ms),
    cut: (ms) => repeatedly(ms, (proxy) => proxy.cut()),
    reset: (ms) => repeatedly(ms, (proxy) => proxy.reset()),
    "half-close": (ms) => repeatedly(ms, (proxy) => proxy.halfClose()),
    silence: (ms) => during({ silent: true }, ms),
    "black-hole": (ms) => during({ blackHole: true }, ms),
    refuse: async (ms) => {
      each((proxy) => proxy.set({ refuse: true }));
      each((proxy) => proxy.reset());
      await pause(ms);
      each((proxy) => proxy.set({}));
    },
    // Requests reach the server and are done; what it answers is never delivered.
    swallow: async (ms) => {
      each((proxy) => proxy.set({ silent: true }));
      await pause(ms);
      each((proxy) => proxy.reset());
      each((proxy) => proxy.set({}));
    },
  });
}

/** Whole messages of the Redis protocol that get lost, each with its connection. */
export function lostMessages(proxy: TcpProxy): Readonly<Record<string, FaultAction>> {
  const lose = (what: "reply" | "request") =>
    harmless(async (ms, number) => {
      const ending = number % 3 === 0 ? "end" : "reset";
      proxy.set({ lose: { what, every: 3 + (number % 9), ending } });
      await pause(ms);
      proxy.set({});
    });
  return { "lose-replies": lose("reply"), "lose-requests": lose("request") };
}

/** Proxies through which a client still holds a connection that it should have closed. */
export function openLinks(proxies: readonly TcpProxy[], most: number): readonly string[] {
  return proxies.flatMap((proxy) => {
    const { open } = proxy.counts();
    return open > most ? [`${open} connections through the proxy, ${most} at most`] : [];
  });
}
