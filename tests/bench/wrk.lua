-- A path that ends with "n=0" has another number each time.
local path, number = nil, 0
function init()
  path = wrk.path:match("^(.*[?&]n=)0$")
end

function request()
  if not path then return wrk.format() end
  number = number + 1
  return wrk.format(nil, path .. number)
end

-- What wrk saw, as one line of numbers: counts, and times in microseconds.
done = function(summary, latency)
  local e = summary.errors
  io.write(string.format("bench %d %d %d %d\n", summary.requests, summary.duration,
    latency:percentile(99), e.connect + e.read + e.write + e.timeout + e.status))
end
