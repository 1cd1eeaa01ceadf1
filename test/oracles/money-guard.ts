// Finds places where money could become a JavaScript number, by the compiler's own types and by names. Its rules:
//   operator     arithmetic, a comparison or a sign on money (a Decimal compares as text: 9 > 10)
//   conversion   Number(), parseFloat(), parseInt(), Math.*, .toNumber() on money; in the money folders on any text
//   declaration  something called amount, total, due … whose type is a number
//   json         JSON.parse or .json(), which read every amount as a float
//   sql          a statement that has PostgreSQL compute or answer in floating point
//   type_parser  a parser for a numeric type of PostgreSQL other than its text
import type { Node, SourceFile } from 'typescript/unstable/ast';
import { SyntaxKind } from 'typescript/unstable/ast';
import type { Project, Type } from 'typescript/unstable/sync';

export type Rule = 'operator' | 'conversion' | 'declaration' | 'json' | 'sql' | 'type_parser';

export interface Finding {
  file: string;
  line: number;
  rule: Rule;
  /** The code on one line. */
  code: string;
}

export interface GuardOptions {
  /** The files to check. */
  files: string[];
  /** The name of a file in findings. */
  nameOf: (file: string) => string;
  /**
   * True if the file is in a folder where amounts also have names without a word for money. In such a folder, no text
   * may become a number.
   */
  isMoneyFolder: (name: string) => boolean;
}

const moneyWords = new Set(
  'amount amounts balance base cents credit debit due gross net paid price residue sum sums tax total totals unused'.split(
    ' ',
  ),
);
/** Last words that show that a name is not money, although it contains a word for money: `due_date`, `base_url`, `net_account`. */
const otherWords = new Set(
  'account accounts at code codes count date dates day days decimals department group groups hash id ids key keys line lines ms name names path places rate role row rows seconds side size time type types url'.split(
    ' ',
  ),
);

/** True if a name is that of money: `dueSum`, `total_with_vat`, `unusedAmount`; not `dueDate`, `baseUrl`. */
export function isMoneyName(name: string): boolean {
  const words = name
    .replace(/credit_?note/gi, '')
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter(Boolean);
  // `date_paid` is a date, like `due_date`.
  return words.some((word) => moneyWords.has(word)) && !words.includes('date') && !otherWords.has(words.at(-1) ?? '');
}

const operators = new Set([
  ...[SyntaxKind.PlusToken, SyntaxKind.MinusToken, SyntaxKind.AsteriskToken, SyntaxKind.SlashToken],
  ...[SyntaxKind.PercentToken, SyntaxKind.AsteriskAsteriskToken, SyntaxKind.LessThanToken, SyntaxKind.GreaterThanToken],
  ...[SyntaxKind.LessThanEqualsToken, SyntaxKind.GreaterThanEqualsToken, SyntaxKind.PlusEqualsToken],
  ...[SyntaxKind.MinusEqualsToken, SyntaxKind.AsteriskEqualsToken, SyntaxKind.SlashEqualsToken],
  ...[SyntaxKind.PercentEqualsToken, SyntaxKind.AsteriskAsteriskEqualsToken],
  ...[SyntaxKind.BarToken, SyntaxKind.AmpersandToken, SyntaxKind.CaretToken, SyntaxKind.LessThanLessThanToken],
  ...[SyntaxKind.GreaterThanGreaterThanToken, SyntaxKind.GreaterThanGreaterThanGreaterThanToken],
]);
/** These operators compare whether two Decimals are the same object; `equals` compares their amounts. */
const identities = new Set([
  ...[SyntaxKind.EqualsEqualsToken, SyntaxKind.EqualsEqualsEqualsToken],
  ...[SyntaxKind.ExclamationEqualsToken, SyntaxKind.ExclamationEqualsEqualsToken],
]);
const floatSql = /(::|\bas\s+)\s*(float\d*|real|double\s+precision|money)\b|\bto_number\s*\(|\brandom\s*\(\)\s*\*/i;
/** The OIDs of float4, float8, money, numeric, and of their arrays. */
const numericOids = ['700', '701', '790', '1700', '1021', '1022', '791', '1231'];

export function findMoneyLeaks(project: Project, options: GuardOptions): Finding[] {
  return options.files.flatMap((path) => {
    const source = project.program.getSourceFile(path);
    if (!source) throw new Error(`${path} is no part of the program`);
    return new Guard(project, source, options).findings();
  });
}

// biome-ignore lint/suspicious/noExplicitAny: the kind of a node decides which properties it has
type Part = any;

class Guard {
  readonly #project: Project;
  readonly #source: SourceFile;
  readonly #name: string;
  readonly #isMoneyFolder: boolean;
  readonly #found: Finding[] = [];
  readonly #types = new Map<Node, string>();

  constructor(project: Project, source: SourceFile, options: GuardOptions) {
    this.#project = project;
    this.#source = source;
    this.#name = options.nameOf(source.fileName);
    this.#isMoneyFolder = options.isMoneyFolder(this.#name);
  }

  findings(): Finding[] {
    this.#visit(this.#source);
    return this.#found;
  }

  #visit(node: Node): void {
    this.#look(node);
    node.forEachChild((child) => {
      this.#visit(child);
      return undefined;
    });
  }

  #look(node: Node): void {
    const part = node as Part;
    switch (node.kind) {
      case SyntaxKind.BinaryExpression:
        this.#binary(node, part.left, part.operatorToken.kind, part.right);
        break;
      case SyntaxKind.PrefixUnaryExpression:
      case SyntaxKind.PostfixUnaryExpression:
        this.#unary(node, part.operator, part.operand);
        break;
      case SyntaxKind.CallExpression:
      case SyntaxKind.NewExpression:
        this.#call(node, part.expression, part.arguments ?? []);
        break;
      case SyntaxKind.PropertyAccessExpression:
        this.#access(node, part.expression, part.name.text);
        break;
      case SyntaxKind.PropertySignature:
      case SyntaxKind.PropertyDeclaration:
      case SyntaxKind.PropertyAssignment:
      case SyntaxKind.ShorthandPropertyAssignment:
      case SyntaxKind.Parameter:
      case SyntaxKind.VariableDeclaration:
      case SyntaxKind.BindingElement:
        this.#declaration(node, part.name);
        break;
      case SyntaxKind.StringLiteral:
      case SyntaxKind.NoSubstitutionTemplateLiteral:
      case SyntaxKind.TemplateHead:
      case SyntaxKind.TemplateMiddle:
      case SyntaxKind.TemplateTail:
        if (floatSql.test(part.text)) this.#report(node, 'sql');
    }
  }

  #binary(node: Node, left: Node, operator: SyntaxKind, right: Node): void {
    if (operators.has(operator) && (this.#isMoney(left) || this.#isMoney(right))) this.#report(node, 'operator');
    if (identities.has(operator) && this.#isDecimal(left) && this.#isDecimal(right)) this.#report(node, 'operator');
  }

  #unary(node: Node, operator: SyntaxKind, operand: Node): void {
    if (operator === SyntaxKind.ExclamationToken) return;
    if (this.#isMoney(operand)) this.#report(node, 'operator');
    else if (operator === SyntaxKind.PlusToken && this.#isMoneyFolder && this.#isText(operand)) {
      this.#report(node, 'conversion');
    }
  }

  #call(node: Node, callee: Node, args: Node[]): void {
    const name = textOf(callee);
    const owner = name.split('.')[0];
    if (/(^|\.)setTypeParser$/.test(name)) {
      const oid = args[0] ? textOf(args[0]) : '';
      // A parser that returns the text is allowed. An OID that is not a literal is reported.
      if (!/^\d+$/.test(oid) || numericOids.includes(oid)) this.#report(node, 'type_parser');
      return;
    }
    const converts = /^(globalThis\.)?(Number|parseFloat|parseInt|Number\.parseFloat|Number\.parseInt)$/.test(name);
    if (!converts && owner !== 'Math') return;
    const isLeak = args.some(
      (arg) => this.#holdsMoney(arg) || (converts && this.#isMoneyFolder && !this.#isLiteral(arg) && this.#isText(arg)),
    );
    if (isLeak) this.#report(node, 'conversion');
  }

  #access(node: Node, object: Node, name: string): void {
    if (name === 'toNumber' && this.#isDecimal(object)) this.#report(node, 'conversion');
    else if (name === 'parse' && textOf(object) === 'JSON') this.#report(node, 'json');
    else if (name === 'json' && this.#answersBody(node.parent)) this.#report(node, 'json');
    // `texts.map(Number)` is reported where Number is passed; this branch covers methods that are called on money.
    else if (name === 'map' && this.#isMoneyFolder && this.#handsOverNumber(node)) this.#report(node, 'conversion');
  }

  /** True if a call of `.json()` reads the body of a response: its result is awaited and can have any shape. */
  #answersBody(call: Node): boolean {
    if (call.kind !== SyntaxKind.CallExpression) return false;
    const type = this.#typeOf(call);
    return /^(any|unknown)$|Promise<|Request</.test(type) && !/Promise<void>/.test(type);
  }

  #handsOverNumber(node: Node): boolean {
    const call = node.parent as Part;
    if (call.kind !== SyntaxKind.CallExpression || call.expression !== node) return false;
    return call.arguments.some((arg: Node) => /^(Number|parseFloat|parseInt)$/.test(textOf(arg)));
  }

  #declaration(node: Node, name: Part): void {
    if (name?.kind !== SyntaxKind.Identifier && name?.kind !== SyntaxKind.PrivateIdentifier) return;
    if (isMoneyName(name.text) && this.#has(name, 'number')) this.#report(node, 'declaration');
  }

  /** True for money: a Decimal, or a text or number with a name of money. */
  #isMoney(node: Node): boolean {
    if (this.#isDecimal(node)) return true;
    const name = lastName(node);
    return name !== null && isMoneyName(name) && (this.#isText(node) || this.#has(node, 'number'));
  }

  /** True for money, or for an expression that contains money: `Number(row.amount.toFixed(2))`. */
  #holdsMoney(node: Node): boolean {
    if (this.#isMoney(node)) return true;
    const part = node as Part;
    // The result of a function differs from its arguments: `Number(countOf(amounts))`.
    if (node.kind === SyntaxKind.CallExpression) {
      const { expression, arguments: args } = part;
      const isMethod = expression.kind === SyntaxKind.PropertyAccessExpression;
      if (isMethod && this.#isText(node) && this.#holdsMoney(expression.expression)) return true;
      return textOf(expression) === 'String' && args.some((arg: Node) => this.#holdsMoney(arg));
    }
    let found = false;
    if (node.kind === SyntaxKind.PropertyAccessExpression || node.kind === SyntaxKind.ElementAccessExpression)
      return false;
    node.forEachChild((child) => {
      found ||= this.#holdsMoney(child);
      return undefined;
    });
    return found;
  }

  #isDecimal(node: Node): boolean {
    return this.#has(node, 'Decimal');
  }

  #isText(node: Node): boolean {
    return this.#has(node, 'string') || this.#has(node, 'any') || this.#has(node, 'unknown');
  }

  #isLiteral(node: Node): boolean {
    return node.kind === SyntaxKind.NumericLiteral || node.kind === SyntaxKind.StringLiteral;
  }

  /** True if the type, or a part of a union, has this name. */
  #has(node: Node, name: string): boolean {
    return this.#typeOf(node).split(' | ').includes(name);
  }

  #typeOf(node: Node): string {
    const known = this.#types.get(node);
    if (known !== undefined) return known;
    const { checker } = this.#project;
    let type: Type | undefined = checker.getTypeAtLocation(node);
    if (type) type = checker.getBaseTypeOfLiteralType(type) ?? type;
    const text = type ? checker.typeToString(type).replaceAll('Money', 'Decimal') : '';
    this.#types.set(node, text);
    return text;
  }

  #report(node: Node, rule: Rule): void {
    const start = node.getStart(this.#source);
    const line = this.#source.text.slice(0, start).split('\n').length;
    const code = this.#source.text.slice(start, node.end).replace(/\s+/g, ' ');
    this.#found.push({ file: this.#name, line, rule, code });
  }
}

/** The last name of an expression: `row.amount`, `amount!`, `this.#amount` and `row['amount']` have `amount`. */
function lastName(node: Node): string | null {
  const part = node as Part;
  switch (node.kind) {
    case SyntaxKind.Identifier:
      return part.text;
    case SyntaxKind.PropertyAccessExpression:
      return part.name.text;
    case SyntaxKind.ElementAccessExpression:
      return part.argumentExpression.kind === SyntaxKind.StringLiteral
        ? part.argumentExpression.text
        : lastName(part.expression);
    case SyntaxKind.NonNullExpression:
    case SyntaxKind.ParenthesizedExpression:
    case SyntaxKind.AsExpression:
      return lastName(part.expression);
    default:
      return null;
  }
}

/** The text of a plain name such as `Number.parseFloat`; for other expressions, their code. */
function textOf(node: Node): string {
  return node.getText().replace(/\s+/g, '');
}
