"""Words that stand in front of a parenthesis in a query and start nothing: SQL's own."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NO_FUNCTION = _words("""
    select from where and or not in exists any all some on using as with by having case when then else end over
    partition order group within keep union minus intersect join set values is like between distinct unique pivot
    unpivot for range rows lateral cross outer inner left right full connect prior start offset fetch return model rules
    dimension measures
""")
"""Words in front of a parenthesis that call nothing."""

BUILT_IN = _words("""
    abs acos add_months approx_count_distinct ascii asciistr asin atan atan2 avg bin_to_num bitand bitor bitxor cast
    ceil char chartorowid chr coalesce collect compose con_id_to_con_name con_id_to_dbid con_name_to_id concat
    connect_by_root convert corr cos cosh count covar_pop covar_samp cube cume_dist current_timestamp cursor date day
    decode decompose dense_rank dump empty_blob empty_clob exp extract first_value floor from_tz greatest group_id
    grouping grouping_id grouping_sets hextoraw hour initcap instr instrb interval json_array json_arrayagg json_object
    json_objectagg json_query json_table json_value lag last_day last_value lead least length lengthb listagg ln lnnvl
    localtimestamp log lower lpad ltrim max median min minute mod month months_between multiset nanvl new_time next_day
    nls_initcap nls_lower nls_upper nlssort nth_value ntile nullif number numtodsinterval numtoyminterval nvarchar2 nvl
    nvl2 ora_hash percent_rank percentile_cont percentile_disc power rank ratio_to_report raw rawtohex regexp_count
    regexp_instr regexp_like regexp_replace regexp_substr remainder replace rollup round row_number rowidtochar rpad
    rtrim scn_to_timestamp second sets sign sin sinh soundex sqrt standard_hash stats_mode stddev stddev_pop stddev_samp
    substr substrb sum sys_connect_by_path sys_context sys_extract_utc sys_guid sys_typeid tan tanh timestamp
    timestamp_to_scn to_binary_double to_binary_float to_char to_clob to_date to_dsinterval to_lob to_nchar to_number
    to_timestamp to_timestamp_tz to_yminterval translate treat trim trunc tz_offset uid unistr upper user userenv
    validate_conversion var_pop var_samp varchar2 variance vsize width_bucket xmlagg xmlattributes xmlcast xmlcolattval
    xmlconcat xmlelement xmlexists xmlforest xmlparse xmlpi xmlquery xmlroot xmlserialize xmltable year
""")
"""Functions of SQL itself, and types with a length. Source: Oracle Database SQL Language Reference 19c, Functions."""
