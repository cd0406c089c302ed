-- Runs the flow named by $CHATLS_FLOW in a real Neovim and tells the test what it sees, one JSON object a line.

local flow = {}

--- Tells the test.
function flow.note(name, value)
  io.stdout:write(vim.json.encode({ name = name, value = value }) .. '\n')
  io.stdout:flush()
end

--- Waits for something; fails when it does not come.
function flow.wait(what, condition)
  assert(vim.wait(20000, condition, 20), 'waited in vain: ' .. what)
end

--- The text of the current buffer.
function flow.text()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
end

--- The text of a file as Neovim holds it, shown or hidden; nil when it holds none.
function flow.buffer(name)
  local buffer = vim.fn.bufnr(name)
  if buffer < 0 or not vim.api.nvim_buf_is_loaded(buffer) then return nil end
  return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n')
end

--- Opens a file and waits until ChatLS serves it.
function flow.open(name)
  vim.cmd.edit(name)
  flow.wait('the server', function()
    local client = vim.lsp.get_clients({ name = 'chatls', bufnr = 0 })[1]
    return client and client.initialized
  end)
end

--- Types an Ex command and waits for the window that it opens.
function flow.ask(command)
  local before = #vim.api.nvim_list_wins()
  vim.cmd(command)
  flow.wait('a window after :' .. command, function() return #vim.api.nvim_list_wins() > before end)
end

--- Types an Ex command; the text of the window that it opens, which is closed again.
function flow.answer(command)
  flow.ask(command)
  local text = flow.text()
  vim.cmd.close()
  return text
end

--- Types these keys whenever Neovim stands at a prompt, as a person would.
function flow.at_prompts(keys)
  local clock = assert(vim.uv.new_timer())
  clock:start(20, 20, function()
    if vim.api.nvim_get_mode().mode == 'c' then vim.api.nvim_input(keys) end
  end)
end

local fine, problem = xpcall(function() assert(loadfile(vim.env.CHATLS_FLOW))(flow) end, debug.traceback)
flow.note(fine and 'end' or 'failure', problem)
vim.cmd('qall!')
