-- "Ask ChatLS about the selection" from the menu of code actions.
local flow = ...

flow.open('app.py')
local before = #vim.api.nvim_list_wins()
vim.lsp.buf.code_action({
  range = { start = { 1, 0 }, ['end'] = { 2, 4 } },
  filter = function(action) return action.title:find('Ask ChatLS', 1, true) ~= nil end,
  apply = true,
})
flow.wait('the answer', function() return #vim.api.nvim_list_wins() > before end)
flow.note('answer', flow.text())
