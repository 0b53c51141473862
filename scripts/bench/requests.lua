-- Sends the requests that it reads from standard input, in turn and repeatedly. In the input, each request is followed
-- by the expected body of its reply. With the argument `check`, every body must be one of the expected bodies. This check
-- takes time, so a measurement does without it.
local requests, replies = {}, {}
local count = 0
local sending

local function check(status, _, body)
  -- The id of a new pet is not known before. Without the id, the reply is equal to the sent body.
  local known = replies[body] or replies[body:gsub('"id":%d+,', '', 1)]
  if known and status < 300 then return end
  io.stderr:write('A wrong reply: ', status, ' ', body, '\n')
  os.exit(1)
end

function setup(thread)
  sending = thread
end

function init(arguments)
  for sent, body in io.read('*a'):gmatch('(.-)\1(.-)\2') do
    requests[#requests + 1] = sent
    replies[body] = true
  end
  if arguments[1] == 'check' then response = check end
  -- The time when the load begins. It is global, because `done` reads it from another Lua state.
  begun = os.clock()
end

function request()
  count = count % #requests + 1
  return requests[count]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"seconds":%f,"bytes":%d,"errors":%d,"p99":%f,"cpu":%f}\n',
    summary.requests, summary.duration / 1e6, summary.bytes,
    errors.connect + errors.read + errors.write + errors.timeout + errors.status,
    latency:percentile(99) / 1e3, os.clock() - sending:get('begun')
  ))
end
