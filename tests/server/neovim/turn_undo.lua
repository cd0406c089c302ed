-- A turn that changes an open file, one that no window shows, and a new one; then all of it is taken back.
local flow = ...

flow.at_prompts('1<CR>')
flow.open('app.py')
flow.note('answer', flow.answer('ChatLS! change three files'))
flow.note('open', flow.text())
flow.note('hidden', flow.buffer('other.py'))
flow.note('new', flow.buffer('new.py') or table.concat(vim.fn.readfile('new.py'), '\n'))
flow.note('undo', flow.answer('ChatLSUndo'))
flow.note('open again', flow.text())
flow.note('hidden again', flow.buffer('other.py'))
