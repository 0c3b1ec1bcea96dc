-- Which of these keys are in a range, as the server compares them.
SELECT asked.number, {within} FROM ({keys}) AS asked
