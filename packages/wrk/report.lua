-- Writes what wrk measured, whole, where the environment's TARE_WRK_REPORT says: a line of JSON with the
-- counts, then a line "microseconds count" for every latency that occurred, ascending.
--
-- It defines nothing that wrk calls while it runs, so it costs the measurement nothing. The file has its
-- name only once it is complete.

local ffi = require("ffi")

-- wrk 4.1.0, src/stats.h. Through wrk's own Lua functions, each latency is searched for from the smallest
-- on: a run whose latencies spread over seconds would take minutes to write.
ffi.cdef [[
  typedef struct { uint64_t count, limit, min, max, data[]; } tare_wrk_stats;
  typedef struct { long seconds, microseconds; } tare_timeval;
  int gettimeofday(tare_timeval *now, void *zone);
]]

-- Unix time in microseconds.
local function now()
  local time = ffi.new("tare_timeval")
  ffi.C.gettimeofday(time, nil)
  return tonumber(time.seconds) * 1e6 + tonumber(time.microseconds)
end

-- Returns the lines of the histogram, and how many there are.
local function histogram(latency)
  local stats = ffi.cast("tare_wrk_stats **", latency)[0]
  local lines = {}
  if tonumber(stats.count) == 0 then return lines end
  assert(tonumber(stats.min) == latency.min and tonumber(stats.max) == latency.max, "wrk's statistics have another layout")
  for value = latency.min, latency.max do
    local count = tonumber(stats.data[value])
    if count > 0 then lines[#lines + 1] = string.format("%d %d", value, count) end
  end
  return lines
end

function done(summary, latency, requests)
  local ended = now()
  local lines = histogram(latency)
  local errors = summary.errors
  local head = string.format(
    '{"schema": 1, "ended_microseconds": %.0f, "duration_microseconds": %.0f, "requests": %d, "bytes": %.0f, '
      .. '"connect": %d, "read": %d, "write": %d, "status": %d, "timeout": %d, "latencies": %d}',
    ended, summary.duration, summary.requests, summary.bytes,
    errors.connect, errors.read, errors.write, errors.status, errors.timeout, #lines)
  local path = assert(os.getenv("TARE_WRK_REPORT"), "TARE_WRK_REPORT does not say where to write")
  local file = assert(io.open(path .. ".part", "w"))
  assert(file:write(head, "\n", table.concat(lines, "\n"), #lines > 0 and "\n" or ""))
  assert(file:close())
  assert(os.rename(path .. ".part", path))
end
