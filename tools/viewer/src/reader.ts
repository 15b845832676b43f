// The reader without the page, for the tests in Node.
export { crc32, Cursor, Damaged } from "./bytes";
export { readTrace, spanEnd } from "./model";
export { bucketOf, bucketStart, kBuckets } from "./stats";
export { kStates } from "./world";
export { explain, meanwhile } from "./explain";
export { parseDuration, duration } from "./words";
export { drawRow } from "./draw";
export { shortFunction } from "./names";
