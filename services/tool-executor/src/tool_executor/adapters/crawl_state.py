"""The state of a run in Redis. Only scripts change it, so executors can share a run and any of them may die.

    run      state, plan, step, counts (n:…), pages seen (p:<address>), how many of a shape (s:…), texts (x:<hash>)
    queue    pages to read, by the earliest time at which they may be read (microseconds of Redis's clock)
    held     the page in work, by the place at the run (a message of the work queue) that reads it
    left     pages that were skipped or failed, at most 200: of those that were only skipped the oldest go first
    gone     documents that no longer exist
    again    pages that are not documents, for the next run to look at

A place holds one page. If its executor dies, whoever takes its message over gets that page again under a new token, and
reports with the old token are refused. The end of a run is held like a page.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from contracts.knowledge import Counts, Left
from tool_executor.adapters.redis_store import RedisStore, Script, texts
from tool_executor.domain.crawl_outcomes import CrawlItem, PageOutcome

KEEP_SECONDS = 3 * 86_400
"""Seconds for which a run is remembered: longer than any of its messages can wait."""
_HELD_SECONDS = 240
"""Seconds after which a page is taken from a place whose message was lost: longer than any page takes."""
_MOST_LEFT = 200
_BATCH = 500

_NOW = """
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
"""
_LEAVE = """
local function leave(list, line, most)
  redis.call('RPUSH', list, line)
  if redis.call('LLEN', list) <= tonumber(most) then return end
  for at = 0, tonumber(most) do
    local oldest = redis.call('LINDEX', list, at)
    local ends = oldest:find('"reason":"endless"', 1, true) or oldest:find('"reason":"full"', 1, true)
    if oldest:find('"outcome":"skipped"', 1, true) and not ends then return redis.call('LREM', list, 1, oldest) end
  end
  redis.call('LPOP', list)
end
"""
"""If the list is full, merely skipped pages are dropped first: the owner must learn what failed or was too large."""
_ADD = Script(
    _NOW
    + _LEAVE
    + """
if redis.call('HGET', KEYS[1], 'state') == 'over' then return 0 end
local most, added = tonumber(ARGV[1]), 0
local function skip(line)
  redis.call('HINCRBY', KEYS[1], 'n:found', 1)
  redis.call('HINCRBY', KEYS[1], 'n:skipped', 1)
  leave(KEYS[3], line, ARGV[2])
end
for i = 3, #ARGV, 6 do
  local url, item, shape, cap, line = ARGV[i], ARGV[i + 1], ARGV[i + 2], tonumber(ARGV[i + 3]), ARGV[i + 4]
  if redis.call('HEXISTS', KEYS[1], 'p:' .. url) == 0 then
    local seen = tonumber(redis.call('HGET', KEYS[1], 'pages')) or 0
    if cap > 0 and (tonumber(redis.call('HGET', KEYS[1], 's:' .. shape)) or 0) >= cap then
      if redis.call('HSETNX', KEYS[1], 'e:' .. shape, 1) == 1 then skip(line) end
    elseif seen >= most then
      if redis.call('HSETNX', KEYS[1], 'full', 1) == 1 then skip(ARGV[i + 5]) end
    else
      if cap > 0 then redis.call('HINCRBY', KEYS[1], 's:' .. shape, 1) end
      redis.call('HSET', KEYS[1], 'p:' .. url, 1)
      redis.call('HINCRBY', KEYS[1], 'pages', 1)
      redis.call('HINCRBY', KEYS[1], 'n:found', 1)
      redis.call('ZADD', KEYS[2], string.format('%.0f', now + added), item)
      added = added + 1
    end
  end
end
return 1
"""
)
_REFUSE = Script(
    _LEAVE
    + """
if redis.call('HGET', KEYS[1], 'state') == 'over' then return 0 end
for i = 3, #ARGV, 3 do
  if (tonumber(redis.call('HGET', KEYS[1], 'n:skipped')) or 0) < tonumber(ARGV[1])
      and redis.call('HSETNX', KEYS[1], 'p:' .. ARGV[i], 1) == 1 then
    redis.call('HINCRBY', KEYS[1], 'n:found', 1)
    redis.call('HINCRBY', KEYS[1], 'n:skipped', 1)
    leave(KEYS[2], ARGV[i + 1], ARGV[2])
    if ARGV[i + 2] ~= '' then redis.call('RPUSH', KEYS[3], ARGV[i + 2]) end
  end
end
return 1
"""
)
_CLAIM = Script(
    _NOW
    + """
if redis.call('HGET', KEYS[1], 'state') ~= 'running' then return {'over'} end
local function hold(item, takes)
  redis.call('HSET', KEYS[3], ARGV[1], string.format('%s\\n%.0f\\n%d\\n%s', ARGV[2], now, takes, item))
  return {'page', item, takes}
end
local function parts(held)
  local _, since, takes, item = held:match('^(.-)\\n(.-)\\n(.-)\\n(.*)$')
  return tonumber(since), tonumber(takes), item
end
local mine = redis.call('HGET', KEYS[3], ARGV[1])
if mine then
  local _, takes, item = parts(mine)
  return hold(item, takes + 1)
end
local first = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
if first[1] and tonumber(first[2]) <= now then
  redis.call('ZREM', KEYS[2], first[1])
  return hold(first[1], 1)
end
local others = redis.call('HGETALL', KEYS[3])
for i = 1, #others, 2 do
  local since, takes, item = parts(others[i + 1])
  if now - since > tonumber(ARGV[3]) * 1000000 then
    redis.call('HDEL', KEYS[3], others[i])
    return hold(item, takes + 1)
  end
end
if first[1] then return {'wait', math.ceil((tonumber(first[2]) - now) / 1000)} end
if #others > 0 then return {'wait', 300} end
return hold('', 1)
"""
)
_SETTLE = Script(
    _NOW
    + _LEAVE
    + """
local held = redis.call('HGET', KEYS[3], ARGV[1])
if not held or held:match('^(.-)\\n') ~= ARGV[2] then return -1 end
redis.call('HDEL', KEYS[3], ARGV[1])
if ARGV[3] == 'again' then
  redis.call('ZADD', KEYS[2], string.format('%.0f', now + tonumber(ARGV[4]) * 1000), ARGV[5])
else
  redis.call('HINCRBY', KEYS[1], 'n:' .. ARGV[3], 1)
  if ARGV[6] ~= '' then leave(KEYS[4], ARGV[6], ARGV[10]) end
  if ARGV[7] ~= '' then redis.call('RPUSH', KEYS[5], ARGV[7]) end
  if ARGV[8] ~= '' then redis.call('RPUSH', KEYS[6], ARGV[8]) end
end
if ARGV[9] == '1' then return redis.call('HINCRBY', KEYS[1], 'away', 1) end
if ARGV[9] == '0' then redis.call('HSET', KEYS[1], 'away', 0) end
return 0
"""
)
_REPORT = Script(
    _NOW
    + """
if redis.call('HGET', KEYS[1], 'state') == 'over' then return {} end
if ARGV[1] == '0' then
  local due = tonumber(redis.call('HGET', KEYS[1], 'due')) or 0
  if now < due then return {} end
end
local begun = tonumber(redis.call('HGET', KEYS[1], 'begun')) or now
redis.call('HSET', KEYS[1], 'due', string.format('%.0f', now + math.max(1000000, (now - begun) / 20)))
local step = redis.call('HINCRBY', KEYS[1], 'step', 1)
local counts = redis.call('HMGET', KEYS[1], 'n:found', 'n:fetched', 'n:unchanged', 'n:skipped', 'n:failed')
for i = 1, 5 do counts[i] = counts[i] or '0' end
return {step, counts[1], counts[2], counts[3], counts[4], counts[5], unpack(redis.call('LRANGE', KEYS[2], 0, -1))}
"""
)
_BEGIN = Script(
    _NOW
    + """
redis.call('HSETNX', KEYS[1], 'state', 'new')
redis.call('HSETNX', KEYS[1], 'begun', string.format('%.0f', now))
for i = 1, #KEYS do redis.call('EXPIRE', KEYS[i], ARGV[1]) end
return {redis.call('HGET', KEYS[1], 'state'), redis.call('HGET', KEYS[1], 'plan') or ''}
"""
)
_START = Script("""
if redis.call('HGET', KEYS[1], 'state') ~= 'new' then return 0 end
redis.call('HSET', KEYS[1], 'state', 'running')
for i = 1, #KEYS do redis.call('EXPIRE', KEYS[i], ARGV[1]) end
return 1
""")
_CLOSE = Script("""
local step = redis.call('HGET', KEYS[1], 'step') or '0'
redis.call('DEL', unpack(KEYS))
redis.call('HSET', KEYS[1], 'state', 'over', 'step', step)
redis.call('EXPIRE', KEYS[1], ARGV[1])
return 1
""")
_SLOT = Script(
    _NOW
    + """
local next = math.max(now, tonumber(redis.call('GET', KEYS[1])) or 0)
local wait = (next - now) / 1000
if wait > tonumber(ARGV[2]) then return {0, math.ceil(wait)} end
redis.call('SET', KEYS[1], string.format('%.0f', next + tonumber(ARGV[1]) * 1000), 'PX', 60000)
return {1, math.ceil(wait)}
"""
)

QueuedPage = tuple[CrawlItem, str, int, Left, Left]
"""A page, its shape, how many of that shape there may be (0: any number), and what to say of it when there are more, or
more pages than a run reads."""


@dataclass(frozen=True, slots=True)
class ClaimedPage:
    """A page that this executor reads. `takes`: how often the page has been started, including by dead executors."""

    item: CrawlItem
    token: str
    takes: int


@dataclass(frozen=True, slots=True)
class NoPage:
    """There is no page to read now. `over`: the run has ended. `wait`: seconds until there may be a page. Neither: all
    pages are read, and the executor that gets this answer must report the end."""

    over: bool = False
    wait: float | None = None


@dataclass(frozen=True, slots=True)
class CrawlProgress:
    """The progress of a run."""

    step: int
    counts: Counts
    left_out: list[Left]


class CrawlState:
    """One run. Every method raises RedisUnavailableError."""

    def __init__(self, store: RedisStore, company: str, run: str) -> None:
        self._store = store
        # One hash slot for all that a script changes at once.
        base = f"crawl:{{{company}.{run}}}:"
        self._run, self._queue, self._held = f"{base}run", f"{base}queue", f"{base}held"
        self._left, self._gone, self._again = f"{base}left", f"{base}gone", f"{base}again"
        self._keys = (self._run, self._queue, self._held, self._left, self._gone, self._again)

    async def begin(self) -> tuple[str, str]:
        """Returns the run's state (new, running or over) and its plan, empty if it has none."""
        state, plan = texts(await self._store.run_on(_BEGIN, self._keys, KEEP_SECONDS))
        return state.decode(), plan.decode()

    async def keep_plan(self, plan: str) -> str:
        """Stores the plan unless there is one; returns the stored plan."""
        await self._store.command("HSETNX", self._run, "plan", plan)
        return bytes(await self._store.command("HGET", self._run, "plan")).decode()

    async def start(self) -> None:
        """Marks the run as running, once its first pages are in the queue."""
        await self._store.run_on(_START, self._keys, KEEP_SECONDS)

    async def add(self, items: Sequence[QueuedPage], max_pages: int) -> None:
        """Puts pages into the queue that were never in it, `max_pages` at most."""
        for start in range(0, len(items), _BATCH):
            parts: list[str | int] = []
            for item, shape, shape_limit, endless, full in items[start : start + _BATCH]:
                parts += [item.url, _json(item), shape, shape_limit, _json(endless), _json(full)]
            await self._store.run_on(_ADD, (self._run, self._queue, self._left), max_pages, _MOST_LEFT, *parts)

    async def refuse(self, pages: Iterable[tuple[Left, str | None]], max_pages: int) -> None:
        """Notes pages that are not read, `max_pages` at most, each with the document that goes for it."""
        all_pages = list(pages)
        for start in range(0, len(all_pages), _BATCH):
            parts: list[str] = []
            for skipped, replaced_document in all_pages[start : start + _BATCH]:
                parts += [skipped.url, _json(skipped), replaced_document or ""]
            await self._store.run_on(_REFUSE, (self._run, self._left, self._gone), max_pages, _MOST_LEFT, *parts)

    async def claim(self, place: str, token: str) -> ClaimedPage | NoPage:
        answer = texts(
            await self._store.run_on(_CLAIM, (self._run, self._queue, self._held), place, token, _HELD_SECONDS)
        )
        match answer[0]:
            case b"page" if not answer[1]:
                return NoPage()
            case b"page":
                return ClaimedPage(CrawlItem.model_validate_json(answer[1]), token, int(answer[2]))
            case b"wait":
                return NoPage(wait=int(answer[1]) / 1000)
            case word:
                return NoPage(over=word == b"over")

    async def settle(self, place: str, page: ClaimedPage, outcome: PageOutcome) -> int | None:
        """Records the outcome of a page. Returns how many pages in a row did not answer; None: the page belongs to
        another executor by now."""
        is_again = outcome.again is not None
        kind = "again" if is_again else outcome.kind
        tries = page.item.tries + (1 if outcome.away or outcome.reason else 0)
        item = page.item.model_copy(update={"tries": tries})
        left_line = ""
        if outcome.kind == "skipped" or outcome.kind == "failed":
            left_line = _json(Left(url=item.url, outcome=outcome.kind, reason=outcome.reason, message=outcome.message))
        # A page counts once, at its first try: at the end of a run only repeated tries are left.
        away = "0" if not (outcome.away or is_again) else "1" if outcome.away and not page.item.tries else ""
        count = await self._store.run_on(
            _SETTLE,
            self._keys,
            place,
            page.token,
            kind,
            int((outcome.again or 0) * 1000),
            _json(item),
            left_line,
            outcome.gone or "",
            item.url if outcome.look_again else "",
            away,
            _MOST_LEFT,
        )
        return None if int(count) < 0 else int(count)

    async def claim_content(self, digest: str, url: str) -> str:
        """Returns the first page of this run with this content."""
        await self._store.command("HSETNX", self._run, f"x:{digest}", url)
        return bytes(await self._store.command("HGET", self._run, f"x:{digest}")).decode()

    async def report(self, *, now: bool = False) -> CrawlProgress | None:
        """The progress of the run; None if it is over, or was reported a moment ago and need not be reported `now`."""
        answer = texts(await self._store.run_on(_REPORT, (self._run, self._left), int(now)))
        if not answer:
            return None
        step, found_count, fetched, unchanged, skipped, failed = map(int, answer[:6])
        counts = Counts(found=found_count, fetched=fetched, unchanged=unchanged, skipped=skipped, failed=failed)
        return CrawlProgress(step, counts, [Left.model_validate_json(line) for line in answer[6:]])

    async def gone(self) -> list[str]:
        return _distinct(await self._store.command("LRANGE", self._gone, 0, -1))

    async def again(self) -> list[str]:
        """Returns the pages that the next run reads again."""
        return _distinct(await self._store.command("LRANGE", self._again, 0, -1))

    async def text(self, name: str) -> bytes | None:
        stored = await self._store.command("HGET", self._run, f"t:{name}")
        return None if stored is None else bytes(stored)

    async def keep_text(self, name: str, text: bytes) -> None:
        await self._store.command("HSET", self._run, f"t:{name}", text)

    async def close(self) -> None:
        """Ends the run for good: later messages of it find nothing to do."""
        await self._store.run_on(_CLOSE, self._keys, KEEP_SECONDS)


class HostSlots:
    """Decides when a host may be requested; all executors share its slots."""

    def __init__(self, store: RedisStore) -> None:
        self._store = store

    async def take(self, host: str, interval: float, max_wait: float) -> tuple[bool, float]:
        """Takes the host's next slot if it is at most `max_wait` seconds away; returns whether it was taken, and the
        seconds until the slot."""
        is_taken, wait = texts(
            await self._store.run(_SLOT, f"crawl:host:{host}", int(interval * 1000), int(max_wait * 1000))
        )
        return is_taken == b"1", int(wait) / 1000


class SiteMemory:
    """What the last complete run of a company's site leaves to the next one: pages that are no documents and must be
    read again. Without it, or under other rules, every page is read again."""

    def __init__(self, store: RedisStore, company: str) -> None:
        self._store = store
        self._key = f"crawl:site:{company}"

    async def load(self, rules: str) -> list[str] | None:
        """Returns the pages to read again; None if every page must be read."""
        stored = await self._store.command("GET", self._key)
        if stored is None:
            return None
        memory = json.loads(stored)
        return list(memory["again"]) if memory["rules"] == rules else None

    async def save(self, rules: str, again: Sequence[str]) -> None:
        await self._store.command("SET", self._key, json.dumps({"rules": rules, "again": again}), "EX", 90 * 86_400)


def _json(model: CrawlItem | Left) -> str:
    return model.to_json().decode()


def _distinct(answer: Sequence[bytes | str]) -> list[str]:
    return list(dict.fromkeys(line.decode() for line in texts(answer)))
