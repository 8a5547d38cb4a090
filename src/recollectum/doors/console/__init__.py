"""The web pages on which a person sees, corrects and erases what is known about them.

routes         adds the pages and files to the app
page_requests  the visit of a signed-in person, forms, error pages
rendering      templates, headers, and values in words
sign_in        signing in and out
sign_in_desk   one-time links and browser sessions
search         the first page
memories       memories, their history and sources
memory_lists   the filter of the list, and what is done to many memories at once
conversations  conversations to read, and their projects
review         proposals to decide
text_diff      word-by-word comparison
timeline       what happened over time
timeline_plot  the bars of the timeline
context        what an agent would be given
agent_state    what agents keep besides
privacy        what is stored, export and erasure
health         findings, index, background work
home_pages     pages about the home: first steps, extensions
templates/, static/  HTML templates and the three files that pages load
"""
