import { documentsOf, type CommandMessage, type Document } from './wire-messages.js';

/** What an older server reports of itself, and how it refuses the one newer command that Tandem uses. */
interface PlayedVersion {
  maxWireVersion: number;
  bulkWrite?: Document;
}

/** Servers that the store's proxy can simulate, by name: each as a member of a replica set. */
export const PLAYED_SERVERS = {
  'MongoDB 6.0': { maxWireVersion: 17, bulkWrite: refusal(59, 'CommandNotFound', "no such command: 'bulkWrite'") },
  'MongoDB 7.0': {
    maxWireVersion: 21,
    bulkWrite: refusal(40_415, 'Location40415', "BSON field 'bulkWrite.errorsOnly' is an unknown field."),
  },
  'MongoDB 8.0 at compatibility 7.0': {
    maxWireVersion: 25,
    bulkWrite: refusal(115, 'CommandNotSupported', 'bulkWrite is not supported in this feature compatibility version'),
  },
  'MongoDB 8.0': { maxWireVersion: 25 },
} satisfies Record<string, PlayedVersion>;
export type PlayedServer = keyof typeof PLAYED_SERVERS;

/** The error document of a refused command. */
export function refusal(code: number, codeName: string, errmsg: string): Document {
  return { ok: 0, errmsg, code, codeName };
}

/** The commands of MongoDB 7.0 that a test may send. */
const COMMANDS = new Set(
  (
    'hello isMaster ismaster ping buildInfo getParameter listDatabases listCollections listIndexes create drop dropDatabase createIndexes ' +
    'dropIndexes collMod collStats dbStats find getMore killCursors aggregate count distinct explain insert update delete findAndModify ' +
    'startSession endSessions killOp currentOp'
  ).split(' '),
);

/** Every `$` name that MongoDB 7.0 knows in filters, updates and pipelines. */
const OPERATORS = new Set(
  // stages
  (
    'addFields bucket bucketAuto changeStream collStats count currentOp densify documents facet fill geoNear graphLookup group indexStats ' +
    'limit listLocalSessions listSessions lookup match merge out planCacheStats project redact replaceRoot replaceWith sample set ' +
    'setWindowFields shardedDataDistribution skip sort sortByCount unionWith unset unwind ' +
    // expressions and accumulators
    'abs accumulator acos acosh add addToSet allElementsTrue and anyElementTrue arrayElemAt arrayToObject asin asinh atan atan2 atanh avg ' +
    'binarySize bitAnd bitNot bitOr bitXor bottom bottomN bsonSize ceil cmp concat concatArrays cond convert cos cosh covariancePop ' +
    'covarianceSamp dateAdd dateDiff dateFromParts dateFromString dateSubtract dateToParts dateToString dateTrunc dayOfMonth dayOfWeek ' +
    'dayOfYear degreesToRadians denseRank derivative divide documentNumber eq exp expMovingAvg filter first firstN floor function getField ' +
    'gt gte hour ifNull in indexOfArray indexOfBytes indexOfCP integral isArray isNumber isoDayOfWeek isoWeek isoWeekYear last lastN let ' +
    'linearFill literal ln locf log log10 lt lte ltrim map max maxN median mergeObjects meta millisecond min minN minute mod month ' +
    'multiply ne not objectToArray or percentile pow push radiansToDegrees rand range rank reduce regexFind regexFindAll regexMatch ' +
    'replaceAll replaceOne reverseArray round rtrim sampleRate second setDifference setEquals setField setIntersection setIsSubset setUnion ' +
    'shift sin sinh size slice sortArray split sqrt stdDevPop stdDevSamp strLenBytes strLenCP strcasecmp substr substrBytes substrCP ' +
    'subtract sum switch tan tanh toBool toDate toDecimal toDouble toInt toLong toLower toObjectId toString toUpper top topN trim trunc ' +
    'tsIncrement tsSecond type unsetField week year zip ' +
    // filters
    'all bitsAllClear bitsAllSet bitsAnyClear bitsAnySet box center centerSphere comment elemMatch exists expr geoIntersects geoWithin ' +
    'geometry jsonSchema maxDistance minDistance near nearSphere nin nor options polygon regex text where search caseSensitive language ' +
    'diacriticSensitive ' +
    // updates
    'bit currentDate each inc mul pop position pull pullAll rename setOnInsert ' +
    // of every command
    'db readPreference clusterTime'
  )
    .split(' ')
    .map((name) => `$${name}`),
);

/** The first `$` name in a command that MongoDB 7.0 does not know. */
function unknownOperator(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    // stored data may have any names
    if (name === '$literal' || name === 'documents') continue;
    const unknown = name.startsWith('$') && !OPERATORS.has(name) ? name : unknownOperator(inner);
    if (unknown !== undefined) return unknown;
  }
  return undefined;
}

/**
 * How a simulated server refuses a command; undefined where it accepts it. Nothing newer than MongoDB 7.0 passes except
 * the `bulkWrite` of 8.0, whatever the real engine supports.
 */
export function refusalOf(server: PlayedServer, name: string, message: CommandMessage): Document | undefined {
  const played: PlayedVersion = PLAYED_SERVERS[server];
  if (name === 'bulkWrite') return played.bulkWrite;
  if (!COMMANDS.has(name)) return refusal(59, 'CommandNotFound', `no such command: '${name}'`);
  const statements = ['updates', 'deletes'].flatMap((sequence) => documentsOf(message, sequence));
  const unknown = unknownOperator([message.body, ...statements]);
  if (unknown !== undefined) return refusal(40_324, 'Location40324', `Unrecognized pipeline stage name: '${unknown}'`);
  if (statements.some((statement) => 'sort' in statement))
    return refusal(40_415, 'Location40415', "BSON field 'update.updates.sort' is an unknown field.");
  return undefined;
}

/** What a replica set member reports of itself, besides what every server reports. */
export function helloOf(server: PlayedServer, address: string, members: readonly string[], isPrimary: boolean): Document {
  return {
    setName: 'rs0',
    hosts: members,
    me: address,
    isWritablePrimary: isPrimary,
    ismaster: isPrimary,
    secondary: !isPrimary,
    minWireVersion: 0,
    maxWireVersion: PLAYED_SERVERS[server].maxWireVersion,
    logicalSessionTimeoutMinutes: 30,
  };
}
