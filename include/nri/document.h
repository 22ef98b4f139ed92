/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Reading JSON documents: configuration, and annotation values.
 *
 * A document is parsed whole and read-only. Refused, with line and column: bad syntax, duplicate
 * members, lone surrogates, a NUL, text that is not UTF-8, and what is over a limit. Readers never
 * fail: a NULL value reads as null, a look-up that finds nothing gives NULL, a text is never NULL.
 * Everything lives as long as the document; one thread at a time may read it.
 */
#ifndef NRI_DOCUMENT_H
#define NRI_DOCUMENT_H

#include <nri/api.h>
#include <nri/error.h>
#include <nri/json.h>

NRI_BEGIN_DECLS

/** The types of JSON. Since 0.1.0. */
enum nri_value_type {
    NRI_VALUE_NULL = 0,
    NRI_VALUE_BOOL = 1,
    NRI_VALUE_NUMBER = 2,
    NRI_VALUE_STRING = 3,
    NRI_VALUE_ARRAY = 4,
    NRI_VALUE_OBJECT = 5
};

/**
 * Parses a JSON text.
 * @param json the text; not needed afterwards
 * @param length its length in bytes
 * @param options limits, names and memory; NULL for defaults
 * @param document set to the document, which nri_document_free() frees; NULL on an error
 * @param error set to an error with line and column; may be NULL
 * @return 0, NRI_E_INVALID, NRI_E_SYNTAX, NRI_E_UTF8, NRI_E_LIMIT, NRI_E_ABI, NRI_E_NOMEM.
 * Thread-safe. Since 0.1.0.
 */
NRI_API int nri_document_parse(const char *json, size_t length,
                               const struct nri_json_options *options, nri_document **document,
                               nri_error **error) NRI_WARN_UNUSED;
/** Frees a document with all its values. NULL is ignored. Returns NULL. Since 0.1.0. */
NRI_API nri_document *nri_document_free(nri_document *document);
/** The outermost value; NULL for a NULL document. Since 0.1.0. */
NRI_API const nri_value *nri_document_root(const nri_document *document);

/** The type; NRI_VALUE_NULL for NULL. Since 0.1.0. */
NRI_API enum nri_value_type nri_value_get_type(const nri_value *value);
/** The name of a type, such as "object"; "?" for none such. Static text. Since 0.1.0. */
NRI_API const char *nri_value_type_name(int type);
/** The line where the value starts, from 1; 0 for NULL. Since 0.1.0. */
NRI_API size_t nri_value_line(const nri_value *value);
/** The column where it starts, in bytes from 1; 0 for NULL. Since 0.1.0. */
NRI_API size_t nri_value_column(const nri_value *value);
/** Whether the value is a bool, and which; `boolean` is set to false when it is none. Since 0.1.0.
 */
NRI_API bool nri_value_bool(const nri_value *value, bool *boolean);
/** Whether the value is a number that is a whole one and fits ("1.0" and "1e2" do); `number` is set
 * to 0 when it is not. Since 0.1.0. */
NRI_API bool nri_value_int64(const nri_value *value, int64_t *number);
/** The same, unsigned. Since 0.1.0. */
NRI_API bool nri_value_uint64(const nri_value *value, uint64_t *number);
/** Whether the value is a number, as the nearest double; `number` is set to 0 when it is none.
 * Since 0.1.0. */
NRI_API bool nri_value_double(const nri_value *value, double *number);
/** The text of a string, or a number as it was written; "" for other types. nri_text_length() does
 * not take it: `length`, which may be NULL, is set to its length. Since 0.1.0. */
NRI_API const char *nri_value_text(const nri_value *value, size_t *length);
/** How many elements of an array or members of an object; 0 for other types. Since 0.1.0. */
NRI_API size_t nri_value_count(const nri_value *value);
/** One element of an array; NULL past the end. Since 0.1.0. */
NRI_API const nri_value *nri_value_at(const nri_value *array, size_t index);
/** One member of an object, in the order of the text; `key`, which may be NULL, is set to its name,
 * "" past the end; NULL past the end. Since 0.1.0. */
NRI_API const nri_value *nri_value_member_at(const nri_value *object, size_t index,
                                             const char **key);
/** A member by its name; NULL when there is none. Since 0.1.0. */
NRI_API const nri_value *nri_value_member(const nri_value *object, const char *key);

NRI_END_DECLS

#endif
