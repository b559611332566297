-- Removes what a client says about who the user is, in every spelling: many frameworks take an underscore in a name for a
-- hyphen, PHP a dot, and some servers whatever is no letter.
function remove_identity(request)
  for name in pairs(request:headers_in_table()) do
    local lower = name:lower()
    if lower:find("^x[^a-z0-9]svc[^a-z0-9]") or lower:find("^remote[^a-z0-9]") then
      request.headers_in[name] = nil
    end
  end
  return apache2.DECLINED
end
