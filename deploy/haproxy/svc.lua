-- Asks svc about a request, by HAProxy's own HTTP client. Where its user is signed in, the request goes on with the
-- headers that name the user; otherwise the response of svc goes to the client: a redirect to the login page, or 401.
--
--   http-request lua.svc-check 127.0.0.1:8079 if is_members !takes_tokens
--
-- The address is that of the frontend `check` in haproxy.cfg.

-- Above the timeout of the backend, which answers first.
local TIMEOUT_MS = 10000
local COPIED =
  { "x-svc-user-id", "x-svc-user-email", "x-svc-user-username", "x-svc-user-roles", "x-svc-user-email-verified", "x-svc-user-amr" }
-- Only with SVC_NAMES.
local NAME = "x-svc-user-name"
local ASKED = { "cookie", "host", "accept", "sec-fetch-mode", "user-agent" }
local PASSED_ON = { "location", "content-type", "cache-control", "content-security-policy", "retry-after", "x-request-id" }

local function away(txn)
  local reply = txn:reply({ status = 503 })
  reply:add_header("Retry-After", "2")
  reply:add_header("Cache-Control", "no-store")
  txn:done(reply)
end

local function question(txn)
  local sent = txn.http:req_get_headers()
  local headers = {
    ["x-forwarded-method"] = { txn.f:method() },
    ["x-forwarded-uri"] = { txn.f:pathq() },
    ["x-forwarded-for"] = { txn.f:src() },
  }
  for _, name in ipairs(ASKED) do
    local values = sent[name]
    if values then
      headers[name] = {}
      -- HAProxy counts them from 0.
      for index = 0, #values do table.insert(headers[name], values[index]) end
    end
  end
  return headers
end

core.register_action("svc-check", { "http-req" }, function(txn, address)
  local response = core.httpclient():get({
    url = "http://" .. address .. "/auth/check?redirect=1",
    headers = question(txn),
    timeout = TIMEOUT_MS,
  })
  local status = response and response.status or 0

  if status == 200 then
    for _, name in ipairs(COPIED) do
      local values = response.headers[name]
      -- Without all of them, it was not svc that answered.
      if not values then return away(txn) end
      txn.http:req_set_header(name, values[0])
    end
    local values = response.headers[NAME]
    if values then txn.http:req_set_header(NAME, values[0]) end
    return
  end
  if status ~= 303 and status ~= 401 then return away(txn) end

  local reply = txn:reply({ status = status, body = response.body })
  for _, name in ipairs(PASSED_ON) do
    local values = response.headers[name]
    if values then reply:add_header(name, values[0]) end
  end
  txn:done(reply)
end, 1)
