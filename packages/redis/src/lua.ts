// Every script that runs in the server: what it is given, what it answers, and why it is atomic (each runs alone on the
// server, and is one effect). Payloads are opaque texts; nothing here parses JSON. Keys are declared, and all of one tenant.
//
// What is kept, per tenant:
//   meta      hash. `e` era, drawn when the hash is made. `g` generation, +1 with each tombstone (absent: 0). `n` is there
//             while there are tombstones. `r` until when (ms) an append may come late. Tombstones: `t<place>` a scope and all under it, `x<place>` that scope alone,
//             `k<place>:<key>` and `y<place>:<key>` the same for one key: value `<records>:<derivations>`, the greatest
//             generation hidden. `c<tombstone>`: rows that it removed so far. `i<place>NUL<head>`: a record erased by key.
//   index     sorted set, one a scope: key -> expiry in ms by the server's clock, +0.5 when it was set by `expire`, inf for
//             none. The member `NUL<era>` (the mark) has the score `generation - 2^40`: the greatest generation in the
//             index; +0.5 when some member may expire. It sorts first by score and by text.
//   registry  sorted sets of places by the expiry of their index, to find scopes without a scan of the key space: all of the
//             tenant's, and one for each named part. In the first stand also, with scores below 0, the mark `NUL<era>`, an
//             entry `NUL<letter>:<part>` for each other registry (minus its expiry), and `NUL!<letter>:<part>` for one that
//             the server lost once, so that it may lack places that are there.
//   record    string `<head>LF<value>`, or list: the head, then elements `<11 characters of token><item>`. A head begins
//             with its generation in decimal digits; what follows is not a digit.
// A record is there if meta is there, the index holds the mark of meta's era and the key, the record has not expired, and no
// tombstone hides its generation. So whatever of this the server loses, what it guarded reads as absent: an erasure that
// finds the first registry without its mark cannot know what it has missed, and ends the era.
// An index expires after all that it holds, a registry after its indices, meta with the first registry.

import { defineScript, type Script } from "./script.ts";

/** How far a mark's score lies below its generation. */
export const MARK_OFFSET: number = 2 ** 40;

/** How many rows one `reap` may be given: a server with a million rows to drop still answers others within a millisecond. */
export const REAP_ROWS = 500;

/** How many keys of an index `peek` gives at once. */
export const FEW = 50;

const TIME = `
local function time()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end`;

// Only with tombstones: which one hides a generation of the key at the index, if any. At most 18 fields of one hash.
const HIDER = `
local function hider(meta, index, key, gen)
  local u, s, a = string.match(index, '}:([^:]*):([^:]*):([^:]*):index$')
  local here = u .. ':' .. s .. ':' .. a
  local names = { 'x' .. here, 'y' .. here .. ':' .. key }
  for _, pu in ipairs(u == '' and { '' } or { '', u }) do
    for _, ps in ipairs(s == '' and { '' } or { '', s }) do
      for _, pa in ipairs(a == '' and { '' } or { '', a }) do
        local under = pu .. ':' .. ps .. ':' .. pa
        names[#names + 1] = 't' .. under
        names[#names + 1] = 'k' .. under .. ':' .. key
      end
    end
  end
  local found, first = nil, nil
  for i, value in ipairs(redis.call('HMGET', meta, unpack(names))) do
    local g = value and tonumber(string.match(value, '^-?%d+'))
    if g and g >= gen and (not first or g < first) then found, first = names[i], g end
  end
  return found
end
local function genOf(head) return tonumber(string.match(head, '^%d+') or '0') end`;

// The head of the record, of either form; false when it is not there.
const HEAD = `
local function headOf(name)
  local kind = redis.call('TYPE', name).ok
  if kind == 'none' then return false end
  if kind == 'list' then return redis.call('LINDEX', name, 0) end
  local v = redis.call('GETRANGE', name, 0, 255)
  local at = string.find(v, '\\n', 1, true)
  if not at and #v == 256 then
    v = redis.call('GET', name)
    at = string.find(v, '\\n', 1, true)
  end
  return at and string.sub(v, 1, at - 1) or v
end`;

// Takes some members that have expired out of the index.
const PRUNE = `local dead = redis.call('ZRANGE', KEYS[2], 0, '(' .. string.format('%.0f', now), 'BYSCORE', 'LIMIT', 0, 8)
    if #dead > 0 then redis.call('ZREM', KEYS[2], unpack(dead)) end`;

// KEYS of every script that writes a record: 1 record, 2 index, 3 meta, 4.. registries. ARGV: 1 key, 2 place.
// \`start\` finds the era (drawing one from the server's time and the client's id), \`link\` puts the key into the index with
// a score, \`lasts\` keeps the bookkeeping alive as long as what it speaks of, with slack so that most writes need not.
// \`enter\`, where the index is new, finds foreign values among the bookkeeping before anything is written; \`clear\` begins
// with a write that is refused without memory, as UNLINK is not, and a script that has written once may go on.
const KEEP = `
local fresh = false
local function start(id)
  local t = redis.call('TIME')
  local era = id .. t[1] .. t[2]
  fresh = redis.call('EXISTS', KEYS[3]) == 0
  redis.call('HSET', KEYS[3], 'e', era)
  redis.call('ZADD', KEYS[4], '-inf', '\\0' .. era)
  return era
end
local function partOf(registry) return string.match(registry, '}:scopes:(.*)$') end
local function enter()
  for i = 2, #KEYS do
    if i ~= 3 then redis.call('ZCARD', KEYS[i]) end
  end
end
local function clear(era)
  if redis.call('EXISTS', KEYS[1]) == 0 then return end
  redis.call('HSET', KEYS[3], 'e', era)
  redis.call('UNLINK', KEYS[1])
end
local function enrol(i, score, now)
  local part = partOf(KEYS[i])
  if redis.call('ZCARD', KEYS[i]) == 0 then
    local before = redis.call('ZSCORE', KEYS[4], '\\0' .. part)
    if before and (before == '-inf' or -before > now) then redis.call('ZADD', KEYS[4], before, '\\0!' .. part) end
  end
  redis.call('ZADD', KEYS[i], score, ARGV[2])
  redis.call('ZADD', KEYS[4], 'LT', score == 'inf' and '-inf' or -score, '\\0' .. part)
end
local function lasts(expiry, now, isNew)
  local till = isNew and -3 or redis.call('PEXPIRETIME', KEYS[2])
  if till == -1 then return end
  if not expiry then
    if not isNew then redis.call('PERSIST', KEYS[2]) end
    redis.call('ZADD', KEYS[4], 'inf', ARGV[2])
    for i = 5, #KEYS do
      enrol(i, 'inf', now or time())
      redis.call('PERSIST', KEYS[i])
    end
    redis.call('PERSIST', KEYS[3])
    redis.call('PERSIST', KEYS[4])
    return
  end
  if till >= expiry then return end
  local to = expiry + math.max(60000, math.min(expiry - now, 86400000))
  redis.call('PEXPIREAT', KEYS[2], to)
  for i = 4, #KEYS do
    if isNew then
      local dead = redis.call('ZRANGE', KEYS[i], 0, '(' .. string.format('%.0f', now), 'BYSCORE', 'LIMIT', 0, 8)
      if #dead > 0 then redis.call('ZREM', KEYS[i], unpack(dead)) end
    end
    if i > 4 then
      enrol(i, to, now)
      if redis.call('ZCARD', KEYS[i]) == 1 then redis.call('PEXPIREAT', KEYS[i], to)
      else redis.call('PEXPIREAT', KEYS[i], to, 'GT') end
    else
      redis.call('ZADD', KEYS[i], to, ARGV[2])
    end
  end
  if isNew then
    local dead = redis.call('ZRANGE', KEYS[4], string.format('(%.0f', -now), '(0', 'BYSCORE', 'LIMIT', 0, 16)
    if #dead > 0 then redis.call('ZREM', KEYS[4], unpack(dead)) end
  end
  if fresh then redis.call('PEXPIREAT', KEYS[3], to) else redis.call('PEXPIREAT', KEYS[3], to, 'GT') end
  local ends = redis.call('PEXPIRETIME', KEYS[3])
  if ends > 0 then redis.call('PEXPIREAT', KEYS[4], ends) else redis.call('PERSIST', KEYS[4]) end
end
local function link(era, gen, mark, isThere, score, expiry, now)
  local name = '\\0' .. era
  local want = tonumber(gen) - 1099511627776
  if not mark then
    redis.call('UNLINK', KEYS[2])
    redis.call('ZADD', KEYS[2], expiry and want + 0.5 or want, name, score, ARGV[1])
    return lasts(expiry, now, true)
  end
  local held = tonumber(mark)
  local mayExpire = expiry or held % 1 ~= 0
  if mayExpire then want = want + 0.5 end
  if mayExpire and not isThere then
    if not now then now = time() end
    ${PRUNE}
  end
  if want ~= held then redis.call('ZADD', KEYS[2], want, name, score, ARGV[1])
  else redis.call('ZADD', KEYS[2], score, ARGV[1]) end
  if mayExpire then lasts(expiry, now, false) end
end
local function leave()
  redis.call('ZREM', KEYS[2], ARGV[1])
  if redis.call('ZCARD', KEYS[2]) > 1 then return end
  redis.call('UNLINK', KEYS[2])
  for i = 4, #KEYS do
    local wasThere = redis.call('ZREM', KEYS[i], ARGV[2]) == 1
    if i > 4 and wasThere and redis.call('EXISTS', KEYS[i]) == 0 then redis.call('ZREM', KEYS[4], '\\0' .. partOf(KEYS[i])) end
  end
end
local function until_(now, ttl)
  return math.min(now + ttl, 4000000000000)
end`;

// A value of another kind at a record's name is not ours to replace.
const FOREIGN = `
local function isForeign(name)
  local kind = redis.call('TYPE', name).ok
  return kind ~= 'none' and kind ~= 'string' and kind ~= 'list'
end
local function wrongType()
  return redis.error_reply('WRONGTYPE Operation against a key holding the wrong kind of value')
end`;

// A hidden record that is about to be replaced is counted, and noted when it was erased by key.
const SETTLE = `
local function settle(gen)
  local head = headOf(KEYS[1])
  if not head or head == '' then return false end
  local by = hider(KEYS[3], KEYS[2], ARGV[1], genOf(head))
  if not by then return true end
  redis.call('HINCRBY', KEYS[3], 'c' .. by, 1)
  local kind = string.sub(by, 1, 1)
  if kind == 'k' or kind == 'y' then
    redis.call('HSET', KEYS[3], 'i' .. ARGV[2] .. '\\0' .. head, string.match(redis.call('HGET', KEYS[3], by), '^%d+'))
  end
  redis.call('UNLINK', KEYS[1])
  return false
end`;

const FETCH = `
local function fetch(isSequence, last)
  local v
  if not isSequence then
    v = redis.pcall('GET', KEYS[1])
    if type(v) ~= 'table' then return v, v end
    if last == '' then
      v = redis.call('LRANGE', KEYS[1], 0, -1)
      return v, v[1]
    end
  end
  v = newest(KEYS[1], last)
  return v, type(v) == 'table' and v[1] or v
end`;

// The head and the newest elements: one more than wanted is read, whose place the head takes where it is not the head.
const NEWEST = `
local function newest(name, last)
  local v = redis.pcall('LRANGE', name, -1 - last, -1)
  if v.err then return redis.call('GET', name) end
  if #v > tonumber(last) then v[1] = redis.call('LINDEX', name, 0) end
  return v[1] and v or false
end`;

// The fast path of a call that arms an expiry where the index has one already. `arms` gives the instant and the present one,
// or nothing where the bookkeeping has to be made to last longer first.
const ARMS = `
local function arms(ttl)
  local t = redis.call('TIME')
  local now = t[1] * 1000 + math.floor(t[2] / 1000)
  local expiry = math.min(now + ttl, 4000000000000)
  local till = redis.call('PEXPIRETIME', KEYS[2])
  if till == -1 or till >= expiry then return expiry, now end
end`;

/**
 * The record. KEYS 1 record, 2 index, 3 meta. ARGV 1 key, 2 newest elements wanted or ''. Replies: nil; the stored text; or
 * the head and the elements. Costs what it returns.
 */
export const READ: Script = defineScript(
  "read",
  `local m = redis.call('HMGET', KEYS[3], 'e', 'n')
local z = m[1] and redis.call('ZMSCORE', KEYS[2], ARGV[1], '\\0' .. m[1])
${NEWEST}
if z and z[1] and z[2] and not m[2] then
  if ARGV[2] ~= '' then return newest(KEYS[1], ARGV[2]) end
  local v = redis.pcall('GET', KEYS[1])
  if type(v) ~= 'table' then return v end
  return redis.call('LRANGE', KEYS[1], 0, -1)
end
${HIDER}${FOREIGN}${FETCH}
if not z or not z[1] or not z[2] then
  if isForeign(KEYS[1]) then return wrongType() end
  return false
end
local v, head = fetch(ARGV[2] ~= '', ARGV[2])
if head and m[2] and hider(KEYS[3], KEYS[2], ARGV[1], genOf(head)) then return false end
return v`,
);

/**
 * The record, its expiry armed anew unless it was set by `expire`. KEYS as of a write. ARGV 1 key, 2 place, 3 ttl in ms,
 * 4 newest elements wanted or ''. Replies as `read`.
 */
export const READ_SLIDING: Script = defineScript(
  "readSliding",
  `local m = redis.call('HMGET', KEYS[3], 'e', 'n')
local z = m[1] and redis.call('ZMSCORE', KEYS[2], ARGV[1], '\\0' .. m[1])
${NEWEST}${ARMS}
if z and z[1] and z[2] and not m[2] and z[2] % 1 ~= 0 then
  local expiry = (z[1] == 'inf' or z[1] % 1 == 0) and arms(ARGV[3])
  if expiry ~= nil then
    local v
    if ARGV[4] ~= '' then v = newest(KEYS[1], ARGV[4])
    else
      v = redis.pcall('GET', KEYS[1])
      if type(v) == 'table' then v = redis.call('LRANGE', KEYS[1], 0, -1) end
    end
    if v and expiry then
      redis.call('PEXPIREAT', KEYS[1], expiry)
      redis.call('ZADD', KEYS[2], expiry, ARGV[1])
    end
    return v
  end
end
${TIME}${HIDER}${FOREIGN}${FETCH}${KEEP}
if not z or not z[1] or not z[2] then
  if isForeign(KEYS[1]) then return wrongType() end
  return false
end
local v, head = fetch(ARGV[4] ~= '', ARGV[4])
if not head or m[2] and hider(KEYS[3], KEYS[2], ARGV[1], genOf(head)) then return false end
local score = tonumber(z[1])
if z[1] == 'inf' or score % 1 == 0 then
  local now = time()
  local expiry = until_(now, ARGV[3])
  redis.call('PEXPIREAT', KEYS[1], expiry)
  local gen = math.floor(tonumber(z[2])) + 1099511627776
  link(m[1], gen, z[2], true, expiry, expiry, now)
end
return v`,
);

/**
 * Stores or replaces. KEYS as above. ARGV 1 key, 2 place, 3 ttl in ms or '' (`=<ms>`: as `expire` sets it), 4 client id,
 * 5 head, with LF and the value unless 6.. are given: 6 is '' and 7.. are elements. The head begins with the generation that
 * the client guesses, so that the text is stored as it came; a wrong guess is corrected. Replies the generation.
 */
export const WRITE: Script = defineScript(
  "write",
  `local m = redis.call('HMGET', KEYS[3], 'e', 'g', 'n')
local era, gen, text = m[1], m[2] or '0', ARGV[5]
local z = era and redis.call('ZMSCORE', KEYS[2], ARGV[1], '\\0' .. era)
local mark = z and z[2]
local old = mark and z[1]
local guess = string.match(text, '^%d+')
if guess ~= gen then text = gen .. string.sub(text, #guess + 1) end
if mark and not m[3] and #ARGV == 5 and mark + 1099511627776 >= tonumber(gen) then
  if ARGV[3] == '' then
    if old == 'inf' then
      redis.call('SET', KEYS[1], text)
      return tonumber(gen)
    end
    if not old and mark % 1 == 0 and redis.call('SET', KEYS[1], text, 'NX') then
      redis.call('ZADD', KEYS[2], 'inf', ARGV[1])
      return tonumber(gen)
    end
  elseif mark % 1 ~= 0 and string.sub(ARGV[3], 1, 1) ~= '=' then
    ${ARMS}
    local expiry, now = arms(ARGV[3])
    if expiry and old then
      redis.call('SET', KEYS[1], text, 'PXAT', expiry)
      redis.call('ZADD', KEYS[2], expiry, ARGV[1])
      return tonumber(gen)
    end
    if expiry and redis.call('SET', KEYS[1], text, 'NX', 'PXAT', expiry) then
      ${PRUNE}
      redis.call('ZADD', KEYS[2], expiry, ARGV[1])
      return tonumber(gen)
    end
  end
end
${TIME}${HIDER}${HEAD}${FOREIGN}${KEEP}${SETTLE}
if not old then
  if isForeign(KEYS[1]) then return wrongType() end
elseif m[3] and not settle(gen) then old = false end
if not mark then enter() end
if not era then era = start(ARGV[4]) end
local now, expiry, score = nil, nil, 'inf'
if ARGV[3] ~= '' then
  local own = string.match(ARGV[3], '^=(%d+)$')
  now = time()
  expiry = until_(now, own or ARGV[3])
  score = own and expiry + 0.5 or expiry
elseif old and old ~= 'inf' then
  local at = redis.call('PEXPIRETIME', KEYS[1])
  if at > 0 then expiry, score = at, old else old = false end
end
if #ARGV == 5 then
  if expiry then redis.call('SET', KEYS[1], text, 'PXAT', string.format('%.0f', expiry))
  else redis.call('SET', KEYS[1], text) end
else
  clear(era)
  redis.call('RPUSH', KEYS[1], text)
  for i = 7, #ARGV, 1000 do redis.call('RPUSH', KEYS[1], unpack(ARGV, i, math.min(i + 999, #ARGV))) end
  if expiry then redis.call('PEXPIREAT', KEYS[1], expiry) end
end
if old ~= score or m[2] and math.floor(tonumber(mark)) + 1099511627776 ~= tonumber(gen) then link(era, gen, mark, old, score, expiry, now) end
return tonumber(gen)`,
);

/**
 * Adds an element. KEYS as above. ARGV 1 key, 2 place, 3 ttl in ms or '', 4 client id, 5 head without generation, 6 element
 * with its token, 7 the length insisted on or '', 8 the most elements, 9 '1' when an earlier attempt may have added it.
 * Replies: its position; or { 'moved', length }, { 'full', length }, when nothing was added. What a later attempt
 * added, the earlier may still bring from a connection given up: for a minute after, every append looks for its token.
 */
export const APPEND: Script = defineScript(
  "append",
  `local m = redis.call('HMGET', KEYS[3], 'e', 'g', 'n', 'r')
local era, gen = m[1], m[2] or '0'
local z = era and redis.call('ZMSCORE', KEYS[2], ARGV[1], '\\0' .. era)
local mark = z and z[2]
local old = mark and z[1]
if old and not m[3] and not m[4] and ARGV[9] == '' then
  local expiry = false
  if ARGV[3] ~= '' then
    ${ARMS}
    expiry = mark % 1 ~= 0 and arms(ARGV[3]) or nil
  end
  local length = expiry ~= nil and redis.pcall('RPUSHX', KEYS[1], ARGV[6])
  if type(length) == 'number' and length > 0 then
    local before = length - 2
    if before < tonumber(ARGV[8]) and (ARGV[7] == '' or tonumber(ARGV[7]) == before) then
      if expiry then
        redis.call('PEXPIREAT', KEYS[1], expiry)
        redis.call('ZADD', KEYS[2], expiry, ARGV[1])
      end
      return length - 1
    end
    redis.call('RPOP', KEYS[1])
  end
end
${TIME}${HIDER}${HEAD}${FOREIGN}${KEEP}${SETTLE}
if old and m[3] and not settle(gen) then old = false end
local isLate = m[4] and tonumber(m[4]) > time()
if old and (ARGV[9] == '1' or isLate) then
  local at = redis.pcall('LPOS', KEYS[1], ARGV[6], 'RANK', -1, 'MAXLEN', ARGV[9] == '1' and 0 or 100000)
  if type(at) == 'number' then return at end
end
local length = 0
if old then
  length = redis.pcall('RPUSHX', KEYS[1], ARGV[6])
  if type(length) == 'table' then
    if string.sub(length.err, 1, 9) ~= 'WRONGTYPE' then return length end
    if ARGV[7] ~= '' and ARGV[7] ~= '1' then return { 'moved', 1 } end
    if tonumber(ARGV[8]) <= 1 then return { 'full', 1 } end
    local v = redis.call('GET', KEYS[1])
    local at = string.find(v, '\\n', 1, true)
    if not at then return wrongType() end
    local till = redis.call('PEXPIRETIME', KEYS[1])
    redis.call('UNLINK', KEYS[1])
    length = redis.call('RPUSH', KEYS[1], string.sub(v, 1, at - 1), '-----------' .. string.sub(v, at + 1), ARGV[6])
    if till > 0 then redis.call('PEXPIREAT', KEYS[1], till) end
  elseif length > 0 then
    local before = length - 2
    if ARGV[7] ~= '' and tonumber(ARGV[7]) ~= before then
      redis.call('RPOP', KEYS[1])
      return { 'moved', before }
    end
    if before >= tonumber(ARGV[8]) then
      redis.call('RPOP', KEYS[1])
      return { 'full', before }
    end
  else
    old = false
  end
end
if not old then
  if isForeign(KEYS[1]) then return wrongType() end
  if ARGV[7] ~= '' and ARGV[7] ~= '0' then return { 'moved', 0 } end
  if not mark then enter() end
  if not era then era = start(ARGV[4]) end
  clear(era)
  length = redis.call('RPUSH', KEYS[1], gen .. ARGV[5], ARGV[6])
end
if ARGV[3] ~= '' then
  local now = time()
  local expiry = until_(now, ARGV[3])
  redis.call('PEXPIREAT', KEYS[1], expiry)
  if not old then link(era, gen, mark, old, expiry, expiry, now)
  else link(era, math.floor(tonumber(mark)) + 1099511627776, mark, old, expiry, expiry, now) end
elseif not old then
  link(era, gen, mark, old, 'inf', nil, nil)
end
if ARGV[9] == '1' then redis.call('HSET', KEYS[3], 'r', string.format('%.0f', time() + 60000))
elseif m[4] and not isLate then redis.call('HDEL', KEYS[3], 'r') end
return length - 1`,
);

/**
 * Sets the expiry. KEYS as above. ARGV 1 key, 2 place, 3 ms (0: gone at once). Replies 1, or 0 when it was not there.
 */
export const EXPIRE: Script = defineScript(
  "expire",
  `${TIME}${HIDER}${HEAD}${KEEP}
local m = redis.call('HMGET', KEYS[3], 'e', 'n')
local z = m[1] and redis.call('ZMSCORE', KEYS[2], ARGV[1], '\\0' .. m[1])
if not z or not z[1] or not z[2] then return 0 end
if m[2] then
  local head = headOf(KEYS[1])
  if not head or hider(KEYS[3], KEYS[2], ARGV[1], genOf(head)) then return 0 end
end
if tonumber(ARGV[3]) <= 0 then
  local gone = redis.call('UNLINK', KEYS[1])
  leave()
  return gone
end
local now = time()
local expiry = until_(now, ARGV[3])
if redis.call('PEXPIREAT', KEYS[1], expiry) == 0 then
  leave()
  return 0
end
link(m[1], math.floor(tonumber(z[2])) + 1099511627776, z[2], true, expiry + 0.5, expiry, now)
return 1`,
);

/**
 * What a listing needs. KEYS 1 index, 2 meta. ARGV 1 lower lexicographic bound, 2 prefix, 3 the most keys. Replies { server's ms,
 * generation mark or '', keys in order }, without keys when some may expire (they are not in text order then: ZSCAN them).
 */
export const LIST: Script = defineScript(
  "list",
  `${TIME}
local era = redis.call('HGET', KEYS[2], 'e')
local mark = era and redis.call('ZSCORE', KEYS[1], '\\0' .. era)
local now = string.format('%.0f', time())
if not mark then return { now, '' } end
if tonumber(mark) % 1 ~= 0 then return { now, mark } end
local till = ARGV[2] == '' and '+' or '(' .. ARGV[2] .. '\\255'
return { now, mark, redis.call('ZRANGEBYLEX', KEYS[1], ARGV[1], till, 'LIMIT', 0, ARGV[3]) }`,
);

/**
 * The heads of these keys, with '' for one that is not in the index or has no record. KEYS 1 index, 2 meta, 3.. records.
 * ARGV the keys.
 */
export const HEADS: Script = defineScript(
  "heads",
  `${HEAD}
local era = redis.call('HGET', KEYS[2], 'e')
local mark = era and redis.call('ZSCORE', KEYS[1], '\\0' .. era)
local heads = {}
for i, key in ipairs(ARGV) do
  heads[i] = mark and redis.call('ZSCORE', KEYS[1], key) and headOf(KEYS[i + 2]) or ''
end
return heads`,
);

/** How many keys of the index have not expired. KEYS 1 index, 2 meta. Replies { count, mark or '' }. O(log n). */
export const COUNT: Script = defineScript(
  "count",
  `${TIME}
local era = redis.call('HGET', KEYS[2], 'e')
local mark = era and redis.call('ZSCORE', KEYS[1], '\\0' .. era)
if not mark then return { 0, '' } end
return { redis.call('ZCOUNT', KEYS[1], string.format('%.0f', time()), 'inf'), mark }`,
);

/**
 * Whether a registry names all places that it has to. KEYS 1 tenant's registry, 2 the registry. Replies 1; 0 when the server
 * lost it, so that only the tenant's own tells.
 */
export const WHOLE: Script = defineScript(
  "whole",
  `${TIME}
local part = string.match(KEYS[2], '}:scopes:(.*)$')
local s = redis.call('ZMSCORE', KEYS[1], '\\0' .. part, '\\0!' .. part)
local now = time()
local function isDue(score) return score and (score == '-inf' or -score > now) end
if isDue(s[2]) or isDue(s[1]) and redis.call('ZCARD', KEYS[2]) == 0 then return 0 end
return 1`,
);

/** The tenant's bookkeeping, as names and values. KEYS 1 meta. It is small: as many fields as erasures under way. */
export const SURVEY: Script = defineScript("survey", `return redis.call('HGETALL', KEYS[1])`);

/**
 * Hides everything that is there and meant, in one step. KEYS 1 meta, 2 tenant's registry. ARGV 1 whether derivations of
 * every kind fall ('1'), 2 client id, 3.. tombstones. Replies the bookkeeping, as `survey`; nothing when the tenant has none.
 * Where only meta was lost an era is drawn, so that what the registries name is removed. Begins with a write that is allowed
 * without memory: what makes room must not need it.
 */
export const TOMBSTONE: Script = defineScript(
  "tombstone",
  `if redis.call('HEXISTS', KEYS[1], 'e') == 0 then
  if redis.call('ZCARD', KEYS[2]) == 0 then return {} end
  redis.call('ZREM', KEYS[2], '')
  local t = redis.call('TIME')
  local era = ARGV[2] .. t[1] .. t[2]
  redis.call('HSET', KEYS[1], 'e', era)
  redis.call('ZADD', KEYS[2], '-inf', '\\0' .. era)
end
redis.call('HDEL', KEYS[1], '')
local gen = redis.call('HINCRBY', KEYS[1], 'g', 1) - 1
redis.call('HSET', KEYS[1], 'n', '1')
for i = 3, #ARGV do
  local before = redis.call('HGET', KEYS[1], ARGV[i])
  local all = ARGV[1] == '1' and gen or before and string.match(before, ':(-?%d+)$') or -1
  redis.call('HSET', KEYS[1], ARGV[i], gen .. ':' .. all)
end
return redis.call('HGETALL', KEYS[1])`,
);

/**
 * What is left to remove in some scopes. KEYS 1 meta, 2.. indices. ARGV 1 era, 2.. the generation hidden in each. Replies for
 * each the number of keys in the index when all of them are hidden (-1 when only a walk over the keys tells which are), and
 * the keys, joined by NUL, when they are few.
 */
export const PEEK: Script = defineScript(
  "peek",
  `local call = redis.call
local isEra = call('HGET', KEYS[1], 'e') == ARGV[1]
local found = {}
for i = 2, #KEYS do
  local mark = isEra and call('ZSCORE', KEYS[i], '\\0' .. ARGV[1])
  local count, keys = 0, ''
  if isEra and mark and math.floor(tonumber(mark)) + 1099511627776 > tonumber(ARGV[i]) then count = -1
  elseif isEra then
    count = math.max(0, call('ZCARD', KEYS[i]) - 1)
    if count > 0 and count <= ${FEW} then keys = table.concat(call('ZRANGE', KEYS[i], 1, -1), '\\0') end
  end
  found[#found + 1] = count
  found[#found + 1] = keys
end
return found`,
);

/**
 * Keys of indices by rank, from 1 (what stands first is the mark). KEYS the indices. ARGV 1 first, 2 last. Replies for each
 * its keys joined by NUL, which is in none: one text is read faster than a list.
 */
export const MEMBERS: Script = defineScript(
  "members",
  `local found = {}
for i = 1, #KEYS do found[i] = table.concat(redis.call('ZRANGE', KEYS[i], ARGV[1], ARGV[2]), '\\0') end
return found`,
);

/**
 * Removes rows of scopes that are hidden whole, and counts them where the erasure's tally stands. KEYS 1 meta, 2.. registries
 * (ARGV 4 says how many), then for each scope its index and its rows. ARGV 1 era, 2 tally, 3 'all' when these are all rows
 * of each, so that index and place go too, 'some' when not, 'rest' for the last, 4 number of registries, then for each scope: number of rows, generation hidden,
 * place, and which registries name it (numbers from 0). An index of another era is hidden whole, and its rows were counted by nobody's loss. A scope that was written to meanwhile is left alone, and its position
 * (from 1) replied.
 */
export const DROP: Script = defineScript(
  "drop",
  `local call = redis.call
if call('HGET', KEYS[1], 'e') ~= ARGV[1] then return {} end
local left, key, arg, scope, gone = {}, 2 + ARGV[4], 5, 1, 0
local places = {}
while arg < #ARGV do
  local rows = tonumber(ARGV[arg])
  local mark = call('ZSCORE', KEYS[key], '\\0' .. ARGV[1])
  local isHidden = not mark or math.floor(tonumber(mark)) + 1099511627776 <= tonumber(ARGV[arg + 1])
  if isHidden and (ARGV[3] ~= 'all' or call('ZCARD', KEYS[key]) <= rows + 1) then
    local isWhole = ARGV[3] ~= 'some'
    local from = isWhole and key or key + 1
    local removed = key + rows >= from and call('UNLINK', unpack(KEYS, from, key + rows)) or 0
    if mark then gone = gone + removed - (isWhole and 1 or 0) end
    if isWhole then
      for digit in string.gmatch(ARGV[arg + 3], '%d+') do
        local list = places[digit] or {}
        list[#list + 1] = ARGV[arg + 2]
        places[digit] = list
      end
    end
  else
    left[#left + 1] = scope
  end
  key, arg, scope = key + 1 + rows, arg + 4, scope + 1
end
local ended = {}
for digit, list in pairs(places) do
  local name = KEYS[2 + digit]
  if call('ZREM', name, unpack(list)) > 0 and call('EXISTS', name) == 0 then
    ended[#ended + 1] = '\\0' .. (string.match(name, '}:scopes:(.*)$') or '')
  end
end
if #ended > 0 then call('ZREM', KEYS[2], unpack(ended)) end
if gone > 0 then call('HINCRBY', KEYS[1], 'c' .. ARGV[2], gone) end
return left`,
);

/**
 * Removes those rows of one scope that are hidden, and counts them. KEYS 1 meta, 2 index, then as many registries as ARGV 5
 * says, then the records. ARGV 1 era, 2 place, 3 generation hidden, 4 tally, 5 registries, 6 '1' to note what is removed
 * (erased by key), 7.. the keys. Replies how many. A key that has no record any more goes from the index, uncounted.
 */
export const REAP: Script = defineScript(
  "reap",
  `${HEAD}
if redis.call('HGET', KEYS[1], 'e') ~= ARGV[1] then return 0 end
if not redis.call('ZSCORE', KEYS[2], '\\0' .. ARGV[1]) then return 0 end
local hidden, registries = tonumber(ARGV[3]), tonumber(ARGV[5])
local names, keys, heads = {}, {}, {}
for i = 7, #ARGV do
  local name = KEYS[2 + registries + i - 6]
  if redis.call('ZSCORE', KEYS[2], ARGV[i]) then
    local head = headOf(name)
    if not head or head == '' then
      keys[#keys + 1] = ARGV[i]
    elseif tonumber(string.match(head, '^%d+') or '0') <= hidden then
      names[#names + 1] = name
      keys[#keys + 1] = ARGV[i]
      heads[#heads + 1] = head
    end
  end
end
if #keys == 0 then return 0 end
redis.call('ZREM', KEYS[2], unpack(keys))
if #names > 0 then
  redis.call('UNLINK', unpack(names))
  redis.call('HINCRBY', KEYS[1], 'c' .. ARGV[4], #names)
end
if ARGV[6] == '1' then
  for _, head in ipairs(heads) do redis.call('HSET', KEYS[1], 'i' .. ARGV[2] .. '\\0' .. head, ARGV[3]) end
end
if redis.call('ZCARD', KEYS[2]) <= 1 then
  redis.call('UNLINK', KEYS[2])
  for i = 3, 2 + registries do
    local wasThere = redis.call('ZREM', KEYS[i], ARGV[2]) == 1
    if i > 3 and wasThere and redis.call('EXISTS', KEYS[i]) == 0 then
      redis.call('ZREM', KEYS[3], '\\0' .. string.match(KEYS[i], '}:scopes:(.*)$'))
    end
  end
end
return #names`,
);

/**
 * Ends an erasure: takes tallies and, where they have not changed, tombstones away; and the rest of the bookkeeping with
 * the tenant's last. KEYS 1 meta, 2 tenant's registry, 3 derivations. ARGV 1 era, 2 number of tallies, then the tallies, then
 * tombstones each with its value. Replies the sum of the tallies. A registry without its mark was lost: what it did not name
 * was not removed, and must not be read again, so that the era ends. A tenant whose last derivation is gone expires again.
 */
export const FINISH: Script = defineScript(
  "finish",
  `if redis.call('HGET', KEYS[1], 'e') ~= ARGV[1] then return 0 end
local sum = 0
for i = 3, 2 + ARGV[2] do
  sum = sum + tonumber(redis.call('HGET', KEYS[1], ARGV[i]) or '0')
  redis.call('HDEL', KEYS[1], ARGV[i])
end
if 3 + ARGV[2] <= #ARGV and not redis.call('ZSCORE', KEYS[2], '\\0' .. ARGV[1]) then redis.call('HDEL', KEYS[1], 'e') end
for i = 3 + ARGV[2], #ARGV, 2 do
  if redis.call('HGET', KEYS[1], ARGV[i]) == ARGV[i + 1] then redis.call('HDEL', KEYS[1], ARGV[i]) end
end
local tombstones, tallies, notes = 0, 0, {}
for _, name in ipairs(redis.call('HKEYS', KEYS[1])) do
  local kind = string.sub(name, 1, 1)
  if kind == 'c' then tallies = tallies + 1
  elseif kind == 'i' then notes[#notes + 1] = name
  elseif string.find('txky', kind, 1, true) then tombstones = tombstones + 1 end
end
if tombstones == 0 then
  redis.call('HDEL', KEYS[1], 'n')
  for _, name in ipairs(notes) do redis.call('HDEL', KEYS[1], name) end
  if redis.call('EXISTS', KEYS[3]) == 0 then
    local last = redis.call('ZRANGE', KEYS[2], '+inf', '0', 'BYSCORE', 'REV', 'LIMIT', 0, 1, 'WITHSCORES')[2]
    if tallies == 0 and not last then
      redis.call('DEL', KEYS[1], KEYS[2])
    elseif last and last ~= 'inf' and redis.call('PEXPIRETIME', KEYS[1]) == -1 then
      redis.call('PEXPIREAT', KEYS[1], last)
      redis.call('PEXPIREAT', KEYS[2], last)
    end
  end
end
return sum`,
);

/**
 * Registers a derivation, in place of what stands under the same name. KEYS 1 derivations, 2 meta, 3 tenant's registry. ARGV 1 name, 2 mixes,
 * 3 client id. What outlives nothing must not outlive its tombstones: with a derivation the bookkeeping does not expire.
 */
export const REGISTER: Script = defineScript(
  "register",
  `local old = redis.call('ZRANGEBYLEX', KEYS[1], '[' .. ARGV[1] .. '\\0', '(' .. ARGV[1] .. '\\1')
redis.call('ZCARD', KEYS[3])
local m = redis.call('HMGET', KEYS[2], 'e', 'g')
local era = m[1]
if not era then
  local t = redis.call('TIME')
  era = ARGV[3] .. t[1] .. t[2]
  redis.call('HSET', KEYS[2], 'e', era)
  redis.call('ZADD', KEYS[3], '-inf', '\\0' .. era)
end
redis.call('ZADD', KEYS[1], 0, ARGV[1] .. '\\0' .. era .. '\\0' .. (m[2] or '0') .. '\\0' .. ARGV[2])
for _, member in ipairs(old) do
  if member ~= ARGV[1] .. '\\0' .. era .. '\\0' .. (m[2] or '0') .. '\\0' .. ARGV[2] then redis.call('ZREM', KEYS[1], member) end
end
redis.call('PERSIST', KEYS[2])
redis.call('PERSIST', KEYS[3])
return 1`,
);

/** A page of derivations, in their order. KEYS 1 derivations, 2 meta. ARGV 1 bound, 2 the most. Replies { meta, members }. */
export const DERIVATIONS: Script = defineScript(
  "derivations",
  `return { redis.call('HGETALL', KEYS[2]), redis.call('ZRANGEBYLEX', KEYS[1], ARGV[1], '+', 'LIMIT', 0, ARGV[2]) }`,
);

/** Removes condemned derivations: exactly these members, so that one registered again meanwhile stays. KEYS 1 derivations. */
export const FORGET: Script = defineScript(
  "forget",
  `local gone = 0
for i = 1, #ARGV, 1000 do gone = gone + redis.call('ZREM', KEYS[1], unpack(ARGV, i, math.min(i + 999, #ARGV))) end
return gone`,
);

/** What `verify` runs, to see that scripts may run. */
export const PROBE: Script = defineScript("probe", "return 1");
