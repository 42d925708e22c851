# Run at every build, as a script: writes OUTPUT from INPUT with the revision of the checkout, and touches it only when
# something changed, so that a commit rebuilds one tiny file and nothing else.
execute_process(COMMAND git describe --always --dirty --abbrev=12 --exclude=*
                WORKING_DIRECTORY ${SOURCE_DIR}
                OUTPUT_VARIABLE KERF_REVISION OUTPUT_STRIP_TRAILING_WHITESPACE
                ERROR_QUIET RESULT_VARIABLE failed)
if(failed OR NOT EXISTS ${SOURCE_DIR}/.git)
  set(KERF_REVISION "")  # a source archive, possibly inside another project's checkout
endif()
configure_file(${INPUT} ${OUTPUT} @ONLY)
