// The shape of a driver, method by method: the one place that lists them all, so that whatever is put around a driver's
// calls is put around every one, and flags and optional members come out as they went in.

import type {
  DriverCall,
  EpisodicSection,
  ErasureSection,
  MemoryDriver,
  ProfileSection,
  SemanticSection,
  WorkingSection,
} from "../model/driver.ts";

/** A driver's method. */
export type Run<Q, R> = (request: Q, call: DriverCall) => Promise<R>;

/** Puts something around a method, whose name it is told. */
export type Wrap = <Q, R>(name: string, run: Run<Q, R>) => Run<Q, R>;

/** Methods that change nothing that matters (`get` may re-arm an expiry): a failed one surely had no effect. */
const READS: ReadonlySet<string> = new Set([
  "get",
  "keys",
  "versions",
  "heads",
  "beliefs",
  "history",
  "page",
  "nearest",
  "scan",
  "count",
  "condemned",
  "derivations",
  "verify",
]);

/** Whether the method of this name only reads. */
export function isRead(name: string): boolean {
  return READS.has(name);
}

/** Whether what a method answered says that it changed something: a lost race and a refused log did not. */
export function hasWritten(name: string, answer: unknown): boolean {
  if (name === "commit") return answer !== false;
  if (name === "log") return !Array.isArray(answer) || answer.length === 0;
  return !isRead(name);
}

/** The driver's sections and `verify`, each method wrapped; what the driver lacks is not there. */
export function wrapMethods(
  driver: MemoryDriver,
  wrap: Wrap,
): Pick<MemoryDriver, "working" | "profile" | "episodic" | "semantic" | "erasure" | "members" | "verify"> {
  const { working, profile, episodic, semantic, erasure } = driver;
  const members = driver.members?.map((member) => ({
    name: member.name,
    erasure: wrapErasure(member.erasure, wrap),
  }));
  const verify = driver.verify?.bind(driver);
  return {
    ...(working === undefined ? {} : { working: wrapWorking(working, wrap) }),
    ...(profile === undefined ? {} : { profile: wrapProfile(profile, wrap) }),
    ...(episodic === undefined ? {} : { episodic: wrapEpisodic(episodic, wrap) }),
    ...(semantic === undefined ? {} : { semantic: wrapSemantic(semantic, wrap) }),
    ...(erasure === undefined ? {} : { erasure: wrapErasure(erasure, wrap) }),
    ...(members === undefined ? {} : { members }),
    ...(verify === undefined ? {} : { verify: wrap("verify", verify) }),
  };
}

function wrapWorking(section: WorkingSection, wrap: Wrap): WorkingSection {
  const { under, maxElements } = section;
  return {
    ...(under === undefined ? {} : { under }),
    ...(maxElements === undefined ? {} : { maxElements }),
    put: wrap("put", (request, call) => section.put(request, call)),
    get: wrap("get", (request, call) => section.get(request, call)),
    append: wrap("append", (request, call) => section.append(request, call)),
    expire: wrap("expire", (request, call) => section.expire(request, call)),
    keys: wrap("keys", (request, call) => section.keys(request, call)),
  };
}

function wrapProfile(section: ProfileSection, wrap: Wrap): ProfileSection {
  const { asOf, knownAt, supersession, under } = section;
  return {
    ...(asOf === undefined ? {} : { asOf }),
    ...(knownAt === undefined ? {} : { knownAt }),
    ...(supersession === undefined ? {} : { supersession }),
    ...(under === undefined ? {} : { under }),
    versions: wrap("versions", (request, call) => section.versions(request, call)),
    heads: wrap("heads", (request, call) => section.heads(request, call)),
    beliefs: wrap("beliefs", (request, call) => section.beliefs(request, call)),
    history: wrap("history", (request, call) => section.history(request, call)),
    commit: wrap("commit", (request, call) => section.commit(request, call)),
  };
}

function wrapEpisodic(section: EpisodicSection, wrap: Wrap): EpisodicSection {
  const { under, filter } = section;
  return {
    ...(under === undefined ? {} : { under }),
    ...(filter === undefined ? {} : { filter }),
    log: wrap("log", (request, call) => section.log(request, call)),
    page: wrap("page", (request, call) => section.page(request, call)),
  };
}

function wrapSemantic(section: SemanticSection, wrap: Wrap): SemanticSection {
  const { dimensions, metric, under, filter } = section;
  const scan = section.scan?.bind(section);
  return {
    dimensions,
    metric,
    ...(under === undefined ? {} : { under }),
    ...(filter === undefined ? {} : { filter }),
    index: wrap("index", (request, call) => section.index(request, call)),
    get: wrap("get", (request, call) => section.get(request, call)),
    nearest: wrap("nearest", (request, call) => section.nearest(request, call)),
    ...(scan === undefined ? {} : { scan: wrap("scan", scan) }),
  };
}

function wrapErasure(section: ErasureSection, wrap: Wrap): ErasureSection {
  const { narrowing } = section;
  const count = section.count?.bind(section);
  return {
    ...(narrowing === undefined ? {} : { narrowing }),
    ...(count === undefined ? {} : { count: wrap("count", count) }),
    tombstone: wrap("tombstone", (request, call) => section.tombstone(request, call)),
    condemned: wrap("condemned", (request, call) => section.condemned(request, call)),
    forget: wrap("forget", (request, call) => section.forget(request, call)),
    sweep: wrap("sweep", (request, call) => section.sweep(request, call)),
    register: wrap("register", (request, call) => section.register(request, call)),
    derivations: wrap("derivations", (request, call) => section.derivations(request, call)),
  };
}
