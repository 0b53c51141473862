-- Sends the requests from standard input, in turn, over and over; there, each is followed by the body of its reply.
-- With the argument `check`, every reply must be one of those. That takes time, and is left out while measuring.
local requests, replies = {}, {}
local count = 0
local sending

local function check(status, _, body)
  -- The id of a new pet is not known beforehand: without it, the reply is what was sent.
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
  -- Global, so that `done` can get it, which runs elsewhere: what came before does not count as load.
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
