// The statement of a search, its parameters and its row.

import type { Metric, NearestRequest } from "@memory/core/driver";
import { columnsOf, metadataConditions, Params, RECORD_COLUMNS, type Statement } from "@memory/core/sql";
import { METRICS, scoreSql, scoreTextSql } from "./metric.ts";
import { vectorText } from "./vector.ts";

/** The statements over the table of a collection. */
export class SearchStatements {
  readonly #records: string;
  readonly #vector: string;
  readonly #operator: string;

  /** @param extension The schema of pgvector, quoted. */
  constructor(records: string, extension: string, metric: Metric) {
    this.#records = records;
    this.#vector = `${extension}.vector`;
    this.#operator = `OPERATOR(${extension}.${METRICS[metric].operator})`;
  }

  /** The closest first. Rows: a record's columns, then its score (see `readScore`). */
  nearest({ scope, reach, embedding, limit, asOf, filter, minScore }: NearestRequest): Statement {
    const p = new Params();
    const query = `(SELECT ${p.text(vectorText(embedding))}::${this.#vector})`;
    const at = p.add(asOf, "::bigint");
    const conditions = [
      p.scope("a", scope, reach),
      `(a.valid_from IS NULL OR a.valid_from<=${at})`,
      `(a.valid_to IS NULL OR a.valid_to>${at})`,
      ...metadataConditions(p, "a", scope, filter),
    ];
    const score = scoreSql(`a.embedding ${this.#operator} ${query}`);
    const ranked = `SELECT ${columnsOf("a", RECORD_COLUMNS)},${score} AS score FROM ${this.#records} a WHERE ${conditions.join(" AND ")}`;
    const least = minScore === undefined ? "" : ` WHERE a.score>=${p.add(String(minScore), "::text::float8")}`;
    return {
      text: `SELECT ${columnsOf("a", RECORD_COLUMNS)},${scoreTextSql("a.score")} FROM (${ranked}) a${least} ORDER BY a.score DESC,a.key,a.user_id,a.session_id,a.agent LIMIT ${p.add(limit, "::bigint")}`,
      params: p.values,
    };
  }
}
