-- An edit that the person turns away by leaving the question.
local flow = ...

flow.at_prompts('<CR>')
flow.open('app.py')
flow.note('answer', flow.answer('ChatLS! fix add'))
flow.note('text', flow.text())
