-- Chat, an edit under review, undo, memory.
local flow = ...

flow.at_prompts('1<CR>')
flow.open('app.py')
flow.note('chat', flow.answer('ChatLS what is this?'))
flow.note('again', flow.answer('1,2ChatLS and these lines?'))
flow.note('answer to the edit', flow.answer('ChatLS! fix add'))
flow.note('edited', flow.text())
flow.note('on disk', vim.fn.readfile('app.py'))
vim.cmd('normal! u')
flow.note('undone', flow.text())
flow.note('remember', flow.answer('ChatLSRemember The staging server is called Heron'))
flow.note('recall', flow.answer('ChatLSRecall staging server'))
vim.cmd('ChatLSNew')
flow.note('afresh', flow.answer('ChatLS start afresh'))
