-- An answer that is read while it is written, one that does not come and one that is stopped.
local flow = ...

flow.open('app.py')
flow.ask('ChatLS tell me')
flow.wait('the first words', function() return flow.text() == 'First words, ' end)
flow.note('first', flow.text())
flow.wait('the whole answer', function() return flow.text() == 'First words, then the rest.' end)
flow.note('whole', flow.text())
vim.cmd.close()
flow.ask('ChatLS tell me more')
flow.wait('the failure', function() return flow.text() ~= '…' end)
flow.note('failure shown', flow.text())
vim.cmd.close()
flow.ask('ChatLS tell me everything')
flow.wait('the first words', function() return flow.text() == 'At length, ' end)
vim.cmd('ChatLSStop')
flow.note('stopped', flow.text())
flow.wait('the word of the test', function() return vim.uv.fs_stat('go on') ~= nil end)
