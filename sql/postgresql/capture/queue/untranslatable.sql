-- Fails if one of these images is no text, or none that UTF-8 has.
SELECT count(convert_to(content, 'UTF8')), count(convert_to(oldcontent, 'UTF8'))
FROM {queue}
WHERE repl_key BETWEEN %(low)s AND %(high)s
