-- What wrk saw, as one line of numbers: counts, and times in microseconds.
done = function(summary, latency)
  local e = summary.errors
  io.write(string.format("bench %d %d %d %d\n", summary.requests, summary.duration,
    latency:percentile(99), e.connect + e.read + e.write + e.timeout + e.status))
end
