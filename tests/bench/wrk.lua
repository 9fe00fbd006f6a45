-- Arguments: METHOD BODY. Each request has a new number, which follows a final "n=" in the path, or replaces "{n}" in
-- the body.
local method, body, path, number, constant = "GET", nil, nil, 0, nil
function init(args)
  method, body = args[1] or "GET", args[2]
  path = wrk.path:match("^(.*[?&]n=)0$")
  if not path and not (body and body:find("{n}", 1, true)) then
    constant = wrk.format(method, nil, nil, body)
  end
end

function request()
  if constant then return constant end
  number = number + 1
  return wrk.format(method, path and path .. number, nil, body and body:gsub("{n}", number))
end

-- Prints the number of requests, the duration in microseconds, and the number of failed requests.
done = function(summary)
  local e = summary.errors
  io.write(string.format("bench %d %d %d\n", summary.requests, summary.duration,
    e.connect + e.read + e.write + e.timeout + e.status))
end
