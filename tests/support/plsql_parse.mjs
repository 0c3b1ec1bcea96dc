// Parses texts with the ANTLR grammar of PL/SQL. In: a JSON object of texts by names; out: of each its errors.
import fs from "node:fs";
import antlr4 from "antlr4";
import { PlSqlLexer, PlSqlParser } from "@griffithswaite/ts-plsql-parser";

// Quick: what that mode takes is in the grammar, and what it does not is looked at again, which costs many times more.
const SLL = 0;

function errorsOf(text, mode = SLL) {
  const errors = [];
  const listener = {
    syntaxError: (_recognizer, _symbol, line, column, message) => errors.push(`${line}:${column} ${message}`),
    reportAmbiguity() {},
    reportAttemptingFullContext() {},
    reportContextSensitivity() {},
  };
  const lexer = new PlSqlLexer(new antlr4.CharStream(text));
  lexer.removeErrorListeners();
  lexer.addErrorListener(listener);
  const parser = new PlSqlParser(new antlr4.CommonTokenStream(lexer));
  parser.removeErrorListeners();
  parser.addErrorListener(listener);
  parser.buildParseTrees = false;
  if (mode === SLL) parser._interp.predictionMode = SLL;
  parser.sql_script();
  // What follows a statement that it takes for the last one would pass unread.
  const rest = parser.getCurrentToken();
  if (rest.type !== antlr4.Token.EOF) errors.push(`${rest.line}:${rest.column} nothing reads ${rest.text}`);
  return errors.length && mode === SLL ? errorsOf(text, null) : errors;
}

const texts = JSON.parse(fs.readFileSync(0, "utf8"));
const found = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, errorsOf(text)]));
process.stdout.write(JSON.stringify(found));
